//! Decides which JSON can be taken at its word.
//!
//! Knows no schema. Invariants: every reader would read the same value, since no key is there twice;
//! the value can be stored and read again, since it is not nested too deep.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Error, Map, Number, Value};

use crate::{storable::MAX_DEPTH, wording::bounded};

/// Longest key that is repeated, in bytes.
const MAX_KEY_BYTES: usize = 100;

/// Reads the whole of a text.
///
/// # Errors
/// Of the category `Data` when it is JSON that cannot be taken; else it is none.
pub(super) fn read(text: &str) -> Result<Value, Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Level { left: MAX_DEPTH }.deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// A value that may be nested so many levels more.
#[derive(Clone, Copy)]
struct Level {
    left: usize,
}

impl Level {
    fn below<E: serde::de::Error>(self) -> Result<Self, E> {
        match self.left.checked_sub(1) {
            Some(left) => Ok(Self { left }),
            None => Err(E::custom(format_args!("is nested more than {MAX_DEPTH} levels deep"))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Level {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Level {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value).map(Value::Number);
        number.ok_or_else(|| E::custom("holds a number that is out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let (below, mut list) = (self.below()?, Vec::new());
        while let Some(item) = items.next_element_seed(below)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let (below, mut map) = (self.below()?, Map::new());
        while let Some(key) = members.next_key::<String>()? {
            if map.contains_key(&key) {
                let key = bounded(&key, MAX_KEY_BYTES);
                return Err(A::Error::custom(format_args!("has the key {key:?} twice")));
            }
            map.insert(key, members.next_value_seed(below)?);
        }
        Ok(Value::Object(map))
    }
}
