//! From values as they were written to the types that the program uses, by serde.

use std::collections::btree_map;
use std::vec;

use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

use super::fault::{Fault, LIST};
use super::node::{Data, Node};
use super::origin::Origin;
use super::placed::PLACED;

impl Node {
    /// Hands what it is to a visitor; what that finds wrong is said with the place.
    fn visit<T>(self, visit: impl FnOnce(Data, &Origin) -> Result<T, Fault>) -> Result<T, Fault> {
        let Node { data, origin } = self;
        visit(data, &origin).map_err(|fault| fault.at(&origin))
    }
}

impl<'de> Deserializer<'de> for Node {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.visit(|data, _| match data {
            Data::Given(text) | Data::Text(text) => visitor.visit_string(text),
            Data::Number(number) => visitor.visit_i64(number),
            Data::Switch(switch) => visitor.visit_bool(switch),
            Data::List(items) => visitor.visit_seq(Items(items.into_iter())),
            Data::Table(table) => visitor.visit_map(Entries { rest: table.into_iter(), value: None }),
            Data::Odd(name) => Err(serde::de::Error::invalid_type(Unexpected::Other(name), &visitor)),
        })
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.visit(|data, _| match data {
            Data::Given(text) | Data::Text(text) => visitor.visit_string(text),
            other => Err(Fault::not_text(other.name())),
        })
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.visit(|data, _| match data {
            Data::Number(number) => visitor.visit_i64(number),
            Data::Given(text) => match text.trim().parse() {
                Ok(number) => visitor.visit_i64(number),
                Err(_) => Err(Fault::said(format!("{text:?} is not a whole number"))),
            },
            other => Err(Fault::expected("a whole number", other.name())),
        })
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.visit(|data, _| match data {
            Data::Switch(switch) => visitor.visit_bool(switch),
            Data::Given(text) => match text.trim().parse() {
                Ok(switch) => visitor.visit_bool(switch),
                Err(_) => Err(Fault::said(format!("{text:?} is neither true nor false"))),
            },
            other => Err(Fault::expected("true or false", other.name())),
        })
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.visit(|data, origin| match data {
            Data::List(items) => visitor.visit_seq(Items(items.into_iter())),
            Data::Given(text) => {
                let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
                let items: Vec<_> = entries.map(|entry| Node::given(entry, origin.clone())).collect();
                visitor.visit_seq(Items(items.into_iter()))
            }
            other => Err(Fault::expected(LIST, other.name())),
        })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.visit(|data, _| match data {
            Data::Table(table) => visitor.visit_map(Entries { rest: table.into_iter(), value: None }),
            other => Err(Fault::expected("a table", other.name())),
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if name != PLACED {
            return self.deserialize_map(visitor);
        }
        let (place, origin) = (self.origin.to_parts(), self.origin.clone());
        visitor.visit_seq(Placing { place: Some(place), node: Some(self) }).map_err(|fault| fault.at(&origin))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_string(visitor)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct
        enum identifier ignored_any
    }
}

/// The items of a list, one after the other.
struct Items(vec::IntoIter<Node>);

impl<'de> SeqAccess<'de> for Items {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some(item) = self.0.next() else { return Ok(None) };
        let origin = item.origin.clone();
        seed.deserialize(item).map(Some).map_err(|fault| fault.of_item(&origin))
    }
}

/// The entries of a table, one after the other.
struct Entries {
    rest: btree_map::IntoIter<String, Node>,
    value: Option<Node>,
}

impl<'de> MapAccess<'de> for Entries {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some((name, value)) = self.rest.next() else { return Ok(None) };
        let origin = value.origin.clone();
        self.value = Some(value);
        let name: serde::de::value::StringDeserializer<Fault> = name.into_deserializer();
        seed.deserialize(name).map(Some).map_err(|fault| fault.at(&origin))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let absent = || Fault::said("a value is asked for before its key".into());
        let value = self.value.take().ok_or_else(absent)?;
        let origin = value.origin.clone();
        seed.deserialize(value).map_err(|fault| fault.at(&origin))
    }
}

/// What [`Placed`](super::placed::Placed) is read from: the place, then the value.
struct Placing {
    place: Option<Vec<String>>,
    node: Option<Node>,
}

impl<'de> SeqAccess<'de> for Placing {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        if let Some(place) = self.place.take() {
            let place: serde::de::value::SeqDeserializer<_, Fault> = place.into_deserializer();
            return seed.deserialize(place).map(Some);
        }
        self.node.take().map(|node| seed.deserialize(node)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::config::error::Error;

    fn read<T: for<'de> Deserialize<'de>>(node: Node) -> Result<T, String> {
        T::deserialize(node).map_err(|fault| match Error::from(fault) {
            Error::Setting { what, .. } => what,
            other => other.to_string(),
        })
    }

    fn given<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, String> {
        read(Node::given(text, Origin::Variable("X".into())))
    }

    fn written<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, String> {
        let value = toml::de::DeValue::parse(text).unwrap();
        read(Node::of_default(&value, "x"))
    }

    #[test]
    fn a_list_in_a_variable_is_split_at_commas_and_trimmed() {
        let list = given::<Vec<String>>(" ls, cat ,,/opt/a b ").unwrap();
        assert_eq!(list, ["ls", "cat", "/opt/a b"]);
    }

    #[test]
    fn a_number_in_a_variable_must_be_one() {
        assert_eq!(given(" 7 "), Ok(7_i64));
        assert_eq!(given::<i64>("many"), Err("\"many\" is not a whole number".into()));
    }

    #[test]
    fn a_switch_is_true_or_false() {
        assert_eq!(given(" false "), Ok(false));
        assert_eq!(given::<bool>("no"), Err("\"no\" is neither true nor false".into()));
    }

    #[test]
    fn a_list_in_a_file_holds_texts_only() {
        let message = written::<Vec<String>>("[\"a\", 1]").unwrap_err();
        assert_eq!(
            message,
            "expected a list of texts, such as [\"a\", \"b\"], found a list of something else"
        );
    }

    #[test]
    fn what_is_of_another_kind_is_named() {
        for (text, found) in [
            ("1", "a number"),
            ("99999999999999999999", "a number"),
            ("1.5", "a number with a fraction"),
            ("1979-05-27", "a date"),
            ("[]", "a list of something else"),
            ("{}", "a table"),
        ] {
            let expected = |wanted: &str| format!("expected {wanted}, found {found}");
            assert_eq!(written::<String>(text), Err(expected("text in quotes")));
            assert_eq!(written::<bool>(text), Err(expected("true or false")));
        }
        assert_eq!(written::<i64>("'1'"), Err("expected a whole number, found text".into()));
        assert_eq!((written("-31"), written("0x1F")), (Ok(-31_i64), Ok(31_i64)));
    }
}
