//! A value that knows where it stands.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};

use super::origin::Origin;

/// By this name a [`Node`](super::node::Node) is asked for its place as well.
pub(crate) const PLACED: &str = "$runward::Placed";

/// A value and where it came from, for what is checked once everything is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed<T> {
    pub(crate) value: T,
    pub(crate) origin: Origin,
}

impl<T> Placed<T> {
    /// The same place with what this makes of the value.
    pub(crate) fn try_map<U, E>(self, make: impl FnOnce(T) -> Result<U, E>) -> Result<Placed<U>, E> {
        make(self.value).map(|value| Placed { value, origin: self.origin })
    }
}

impl<T> Deref for Placed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Placed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct(PLACED, &[], Parts(PhantomData))
    }
}

struct Parts<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Parts<T> {
    type Value = Placed<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value with its place")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Placed<T>, A::Error> {
        let absent = || A::Error::custom("a value without its place");
        let origin = parts
            .next_element::<Vec<String>>()?
            .as_deref()
            .and_then(Origin::from_parts)
            .ok_or_else(absent)?;
        Ok(Placed { value: parts.next_element()?.ok_or_else(absent)?, origin })
    }
}
