//! The variants and fields of messages as serde sees them, taken from the types and not from
//! values.

use serde::de::value::{Error, U32Deserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

/// A variant of an enum.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Variant {
    pub(super) name: &'static str,
    /// Names of its own fields, or of those of the struct that it contains.
    pub(super) fields: Vec<&'static str>,
}

/// Returns all variants of an enum, in the order of their numbers.
pub(super) fn variants<T: DeserializeOwned>() -> Vec<Variant> {
    let mut all: Vec<Variant> = Vec::new();
    loop {
        let mut probe = Probe::default();
        let number = u32::try_from(all.len()).expect("enums are small");
        // Nothing is ever read, so this fails; by then the request is known.
        let _ = T::deserialize(Enum { number, probe: &mut probe });
        let Some(name) = probe.names.get(all.len()) else { return all };
        all.push(Variant { name, fields: probe.fields });
    }
}

/// What a type requested.
#[derive(Default)]
struct Probe {
    names: &'static [&'static str],
    fields: Vec<&'static str>,
}

fn nothing() -> Error {
    Error::custom("there is no value")
}

/// Offers one variant of an enum.
struct Enum<'a> {
    number: u32,
    probe: &'a mut Probe,
}

impl<'de> Deserializer<'de> for Enum<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(nothing())
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.probe.names = variants;
        visitor.visit_enum(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

impl<'de, 'a> EnumAccess<'de> for Enum<'a> {
    type Error = Error;
    type Variant = Fields<'a>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), Error> {
        let number: U32Deserializer<Error> = self.number.into_deserializer();
        Ok((seed.deserialize(number)?, Fields(self.probe)))
    }
}

/// Records a variant's fields.
struct Fields<'a>(&'a mut Probe);

impl<'de> VariantAccess<'de> for Fields<'_> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Error> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Error> {
        Err(nothing())
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        self.0.fields = fields.to_vec();
        Err(nothing())
    }
}

impl<'de> Deserializer<'de> for Fields<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(nothing())
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        self.0.fields = fields.to_vec();
        Err(nothing())
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
