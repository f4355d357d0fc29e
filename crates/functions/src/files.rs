//! Functions on the files of the caller's workspace.

mod glob;
mod grep;
mod ignored;
mod lines;
mod list;
mod open;
mod path;
mod read;
mod sniff;
mod walk;

use std::sync::Arc;

use cap_std::fs::Dir;
use toolshelf_runtime::{CallContext, FunctionError, FunctionSpec, RegistryBuilder};

pub(crate) use sniff::binary;

use crate::Workspaces;

/// Registers the functions on files.
pub(crate) fn register(builder: RegistryBuilder, workspaces: &Workspaces) -> RegistryBuilder {
    let builder = read::register(builder, workspaces);
    let builder = list::register(builder, workspaces);
    let builder = glob::register(builder, workspaces);
    grep::register(builder, workspaces)
}

/// What the functions on files have in common. Each of them says in its text what it left out, so the pipeline's cut
/// is only a second line of defence and keeps the beginning.
fn spec(name: &'static str, workspaces: &Workspaces) -> FunctionSpec {
    let workspaces = workspaces.clone();
    FunctionSpec {
        toolsets: &["files"],
        head_ratio: 1.0,
        check: Some(Arc::new(move || workspaces.check())),
        ..FunctionSpec::new(name, "files", "")
    }
}

/// The caller's workspace.
fn workspace(workspaces: &Workspaces, context: &CallContext) -> Result<Dir, FunctionError> {
    workspaces
        .of(&context.caller.user_id)
        .map_err(|error| FunctionError::new(format!("Your workspace is not available: {error}.")))
}

#[cfg(test)]
mod tests;
