//! What a body must not hold although it is JSON: a name twice in one object, of which readers take either, and more
//! than anybody means. It is looked at before anything is made of it, so that it costs no memory.

use std::collections::HashSet;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;

/// The most items of a list, and the most members of an object: as many as a process can be given.
const MOST: usize = 4096;

/// How much of a name is shown.
const SHOWN: usize = 40;

/// A body that is larger is read beside the runtime: nobody else waits for it.
const LARGE: usize = 64 * 1024;

/// What is wrong with it, in a sentence. What is no JSON at all is left to whoever reads it.
pub(crate) fn fault(body: &[u8]) -> Option<String> {
    let mut reader = serde_json::Deserializer::from_slice(body);
    let looked = Look.deserialize(&mut reader);
    looked.err().filter(|error| error.classify() == Category::Data).map(|error| error.to_string())
}

/// Does the work that a body of this size makes: at once, or aside where that takes a while.
pub(crate) async fn aside<T: Send + 'static>(
    size: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    if size <= LARGE {
        return Some(work());
    }
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Some(done),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_shutting_down) => None,
        },
    }
}

struct Look;

impl<'de> DeserializeSeed<'de> for Look {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Look {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let mut count = 0;
        while items.next_element_seed(Look)?.is_some() {
            count += 1;
            if count > MOST {
                return Err(A::Error::custom(format_args!("a list has more than {MOST} items")));
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = members.next_key::<String>()? {
            if names.len() == MOST {
                return Err(A::Error::custom(format_args!("an object has more than {MOST} members")));
            }
            if let Some(name) = names.replace(name) {
                let name: String = name.chars().take(SHOWN).collect();
                return Err(A::Error::custom(format_args!("{name:?} is given twice; give it once")));
            }
            members.next_value_seed(Look)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_readers_agree_on_has_no_fault() {
        for body in [
            r#"{"a":[1,-2,3.5,"x",null,true,{"a":{}}],"b":{"a":1}}"#,
            "[]",
            "7",
            // No JSON at all: somebody else says so.
            "{",
            "",
            r#"{"a":1"#,
            "1e999",
        ] {
            assert_eq!(fault(body.as_bytes()), None, "{body}");
        }
    }

    #[test]
    fn a_name_that_is_given_twice_is_found_at_any_depth_and_however_it_is_written() {
        let told = |name: &str| format!("{name:?} is given twice; give it once at line 1 column ");
        for body in [r#"{"a":1,"a":1}"#, r#"{"x":[{"y":{"a":1,"b":2,"a":3}}]}"#, r#"{"a":1,"\u0061":2}"#] {
            let fault = fault(body.as_bytes()).expect(body);
            assert!(fault.starts_with(&told("a")), "{fault}");
        }
    }

    #[test]
    fn more_than_a_process_can_be_given_is_refused_as_it_is_read() {
        let list = |items: usize| format!("{{\"args\":[\"\"{}]}}", ",\"\"".repeat(items - 1));
        assert_eq!(fault(list(4096).as_bytes()), None);
        assert!(fault(list(4097).as_bytes()).is_some_and(|fault| fault.contains("more than 4096 items")));
        let members: Vec<String> = (0..4097).map(|at| format!("\"{at}\":0")).collect();
        let fault = fault(format!("{{{}}}", members.join(",")).as_bytes());
        assert!(fault.is_some_and(|fault| fault.contains("more than 4096 members")));
    }

    proptest::proptest! {
        #[test]
        fn bytes_that_are_anything_never_panic(body: Vec<u8>) {
            let _ = fault(&body);
        }
    }
}
