//! Why a use case did not do as asked. No web words; the server translates.

use serde_json::Value;
use toolshelf_api::{FieldError, OverLimit};
use toolshelf_core::RequestError;
use toolshelf_runtime::store::StoreError;
use toolshelf_runtime::{CallRefused, Unready, thousands};

use crate::access::Denied;

/// Why a use case did not do as asked. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// Who asks is not known, and why.
    #[error("{0}")]
    Unauthenticated(&'static str),
    /// Who asks may not do this.
    #[error("{}", .0.detail())]
    Denied(Denied),
    /// There is no such thing.
    #[error("There is no {what} named {name:?}.")]
    NotFound {
        /// The kind of thing.
        what: &'static str,
        /// Its name as given.
        name: String,
        /// Close names that exist.
        suggestions: Vec<String>,
    },
    /// The state of things does not allow it.
    #[error("{detail}")]
    Conflict {
        /// A stable code.
        code: &'static str,
        /// A sentence that a person can act on.
        detail: String,
    },
    /// An answer is being written in the conversation.
    #[error("An answer is being written in this conversation. Wait for it, or stop it.")]
    RunActive {
        /// The run that writes it.
        run_id: String,
    },
    /// The write was made on an old revision.
    #[error("Somebody changed it in the meantime.")]
    Stale {
        /// It as it is now.
        current: Value,
    },
    /// Fields are wrong.
    #[error("{}", detail_of(.0))]
    Invalid(Vec<FieldError>),
    /// A toolset or a list of tools cannot be resolved.
    #[error("{error}")]
    Request {
        /// What is unknown.
        error: RequestError,
        /// The field that names it, as a JSON Pointer.
        pointer: &'static str,
    },
    /// A computed toolset, such as `default`, was to be changed.
    #[error("{0} is computed and cannot be changed. Make a profile of your own from it.")]
    Reserved(String),
    /// A profile had this name and was deleted.
    #[error("The profile {0:?} was deleted.")]
    Retired(String),
    /// What would be sent is more than the model takes.
    #[error("{}", too_many(.0))]
    TooManyTools(OverLimit),
    /// A call did not run.
    #[error("the call was refused: {}", .0.code())]
    Call(CallRefused),
    /// Too many tries.
    #[error("Too many tries. Try again in {retry_after_seconds} seconds.")]
    RateLimited {
        /// When the next try is allowed.
        retry_after_seconds: u64,
    },
    /// No decision can be trusted now.
    #[error(transparent)]
    Unready(#[from] Unready),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Something that cannot happen did.
    #[error("{0}")]
    Internal(String),
}

impl ServiceError {
    pub(crate) fn invalid(pointer: &str, message: impl Into<String>) -> Self {
        Self::Invalid(vec![FieldError { pointer: pointer.to_owned(), message: message.into() }])
    }

    pub(crate) fn conflict(code: &'static str, detail: impl Into<String>) -> Self {
        Self::Conflict { code, detail: detail.into() }
    }

    pub(crate) fn not_found(what: &'static str, name: &str) -> Self {
        Self::NotFound { what, name: name.to_owned(), suggestions: Vec::new() }
    }
}

fn detail_of(errors: &[FieldError]) -> String {
    errors.first().map_or_else(|| "The request is not valid.".to_owned(), |error| error.message.clone())
}

fn too_many(over: &OverLimit) -> String {
    let heaviest: Vec<String> =
        over.heaviest.iter().map(|heavy| format!("{} ({} tools)", heavy.service, heavy.tools)).collect();
    let (count, limit) = (thousands(over.count), thousands(over.limit));
    let what = if over.kind == "max_tools" {
        format!("{count} tools would be sent, and this model takes {limit}")
    } else {
        format!("The tools alone are about {count} tokens, and this model takes {limit}")
    };
    format!("{what}. Choose a smaller profile; the most come from {}.", heaviest.join(", "))
}
