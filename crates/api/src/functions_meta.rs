//! The interchange document of profiles, `functions_meta.json`.

use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The interchange document: exactly these two fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct FunctionsMeta {
    /// The tools of each profile. `default` stands for every exposed tool, whatever it lists.
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::HashMap<String, Vec<String>>))]
    pub profiles: ProfileLists,
    /// The name of the toolset that new conversations start with.
    pub active: String,
}

/// Lists of tools by the name of their profile, in an order that is kept: `default` first, then by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileLists(pub Vec<(String, Vec<String>)>);

impl Serialize for ProfileLists {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, tools) in &self.0 {
            map.serialize_entry(name, tools)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for ProfileLists {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lists;
        impl<'de> Visitor<'de> for Lists {
            type Value = ProfileLists;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of profiles, each a list of tool names")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ProfileLists, A::Error> {
                let mut lists: Vec<(String, Vec<String>)> = Vec::new();
                while let Some((name, tools)) = map.next_entry::<String, Vec<String>>()? {
                    if lists.iter().any(|(known, _)| *known == name) {
                        return Err(A::Error::custom(format!("the profile {name:?} is there twice")));
                    }
                    lists.push((name, tools));
                }
                Ok(ProfileLists(lists))
            }
        }
        deserializer.deserialize_map(Lists)
    }
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportedFunctions {
    /// Profiles that are new.
    pub created: Vec<String>,
    /// Profiles that hold other tools than before.
    pub changed: Vec<String>,
    /// Profiles that were removed.
    pub deleted: Vec<String>,
    /// Names that no tool of the catalog has now. They are kept, and come in by themselves.
    pub missing: Vec<String>,
    /// The toolset that new conversations start with.
    pub active: String,
}
