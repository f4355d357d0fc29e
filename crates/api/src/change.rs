//! A field of a partial change that can be taken back.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a partial change says about a field that may be null. Unlike an `Option`, it tells null from absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Change<T> {
    /// The field is absent, so it stays.
    #[default]
    Keep,
    /// The field is null, so what was there is taken back.
    Clear,
    /// The field has a value.
    Set(T),
}

impl<T> Change<T> {
    /// Whether the field is absent, and so is not written.
    pub fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }

    /// What the field is after the change.
    pub fn apply(self, before: Option<T>) -> Option<T> {
        match self {
            Self::Keep => before,
            Self::Clear => None,
            Self::Set(value) => Some(value),
        }
    }
}

impl<T: Serialize> Serialize for Change<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Keep | Self::Clear => serializer.serialize_none(),
            Self::Set(value) => serializer.serialize_some(value),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Change<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Clear, Self::Set))
    }
}
