//! What the app shell hands to the browser, so that the first paint needs no request.

use serde::{Deserialize, Serialize};

use toolshelf_core::{NotRegistered, ToolCard, Verdict};

use crate::account::Me;

/// The boot document, in `<script type="application/json" id="boot">`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Boot {
    /// The server's version.
    pub version: String,
    /// Who is signed in.
    pub me: Me,
    /// The revision of the snapshot that `tools` and `verdicts` show.
    pub revision: u64,
    /// The catalog, without parameters.
    pub tools: Vec<ToolCard>,
    /// The verdicts of the catalog for a call outside of a conversation.
    pub verdicts: Vec<Verdict>,
    /// Tools that did not enter the registry.
    pub not_registered: Vec<NotRegistered>,
    /// The folder on the server that holds the files of whoever is signed in; for admins only, who may know where the
    /// data folder is.
    pub workspace: Option<String>,
}
