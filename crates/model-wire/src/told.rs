//! Decides whether a JSON value can be read in one way only.
//!
//! Knows nothing about what it is for. Readers differ in which value of a name they take that stands
//! twice; a value with two for one name is not clear.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// A value, and whether all readers read it so.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) value: Value,
    pub(crate) is_clear: bool,
}

impl Told {
    fn clear(value: impl Into<Value>) -> Self {
        Self { value: value.into(), is_clear: true }
    }
}

impl<'de> Deserialize<'de> for Told {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reading)
    }
}

struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = Told;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a json value")
    }

    fn visit_unit<E>(self) -> Result<Told, E> {
        Ok(Told::clear(()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Told, E> {
        Ok(Told::clear(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Told, E> {
        Ok(Told::clear(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Told, E> {
        Ok(Told::clear(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Told, E> {
        Ok(Told::clear(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Told, E> {
        Ok(Told::clear(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Told, E> {
        Ok(Told::clear(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Told, A::Error> {
        let (mut values, mut is_clear) = (Vec::new(), true);
        while let Some(told) = elements.next_element::<Told>()? {
            is_clear &= told.is_clear;
            values.push(told.value);
        }
        Ok(Told { value: values.into(), is_clear })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Told, A::Error> {
        let (mut values, mut is_clear) = (Map::new(), true);
        while let Some((name, told)) = fields.next_entry::<String, Told>()? {
            let other = values.get(&name).is_some_and(|held| *held != told.value);
            is_clear &= told.is_clear && !other;
            values.insert(name, told.value);
        }
        Ok(Told { value: values.into(), is_clear })
    }
}
