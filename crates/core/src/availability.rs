//! Whether tools can run (L4), as it was last seen.

use std::sync::Arc;

use crate::card::Available;

/// Why a tool cannot run now (L4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// Its own check says so.
    Check(Arc<str>),
    /// Variables of the server's environment are not set, or empty.
    Environment(Arc<str>),
    /// Its upstream MCP server cannot be reached.
    Upstream(Arc<str>),
}

impl Unavailable {
    /// A sentence about it.
    fn sentence(&self) -> String {
        match self {
            Self::Check(reason) | Self::Upstream(reason) => reason.to_string(),
            Self::Environment(names) => format!("The environment of the server does not set {names}."),
        }
    }
}

/// Whether a tool can run, as it was last seen: nothing, or all that stands in its way, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Availability(Option<Arc<[Unavailable]>>);

impl Availability {
    /// It can run.
    pub const READY: Self = Self(None);

    /// It cannot run for these reasons; without any it can.
    pub fn of(reasons: impl IntoIterator<Item = Unavailable>) -> Self {
        let reasons: Arc<[Unavailable]> = reasons.into_iter().collect();
        Self((!reasons.is_empty()).then_some(reasons))
    }

    /// Its check failed.
    pub fn failed(reason: &str) -> Self {
        Self::of([Unavailable::Check(reason.into())])
    }

    /// What stands in its way.
    pub(crate) fn reasons(&self) -> &[Unavailable] {
        self.0.as_deref().unwrap_or_default()
    }

    /// As lists show it.
    pub(crate) fn shown(&self) -> Available {
        let sentences: Vec<String> = self.reasons().iter().map(Unavailable::sentence).collect();
        Available { ok: sentences.is_empty(), reason: (!sentences.is_empty()).then(|| sentences.join(" ")) }
    }
}
