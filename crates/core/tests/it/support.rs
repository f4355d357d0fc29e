//! Registries and requests for the tests of this crate.

use std::sync::Arc;

use serde_json::json;
use toolshelf_core::{
    Caller, Disable, Effect, Exposure, Identity, KeyIdentity, Kind, LOADER, NewTools, Profile, Request, Role,
    Scope, Snapshot, Source, Tool, ToolDefinition, Toolset,
};

/// A plain exposed tool that reads.
pub(crate) fn definition(service: &str, name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.to_owned(),
        title: None,
        description: format!("Does {name}."),
        parameters: json!({"type": "object"}),
        source: Source::builtin(),
        service: service.to_owned(),
        method: name.to_owned(),
        toolsets: Vec::new(),
        unsafe_in: Vec::new(),
        exposure: Exposure::Exposed,
        defer: false,
        needs_conversation: false,
        kind: Kind::Read,
        effect: Effect::Read,
        held: None,
        upstream: None,
    }
}

pub(crate) fn tool(definition: ToolDefinition) -> Arc<Tool> {
    Arc::new(Tool::new(definition).expect("the test's definition is valid"))
}

/// The loader.
pub(crate) fn loader() -> Arc<Tool> {
    tool(definition("meta", LOADER))
}

/// A profile of which only the tools matter; its name is its id.
pub(crate) fn profile(id: &str, tools: Vec<String>) -> Arc<Profile> {
    Arc::new(Profile {
        id: id.into(),
        name: id.into(),
        description: "".into(),
        owner_id: "u1".into(),
        tools: tools.into_iter().map(Arc::from).collect(),
        pinned: Vec::new(),
        new_tools: NewTools::Ignore,
        new_tools_since: 1,
        revision: 1,
        created_at: "2026-12-01T00:00:00Z".into(),
        updated_at: "2026-12-01T00:00:00Z".into(),
    })
}

pub(crate) fn disable() -> Disable {
    Disable { by: "ada".into(), reason: "leaks".into(), at: "2026-12-01T00:00:00Z".into() }
}

/// The same registry as a real one in small: an ordinary tool, a helper, one that is unsafe on telegram, one that needs
/// a conversation.
pub(crate) fn snapshot() -> Snapshot {
    let tools = vec![
        tool(definition("files", "read")),
        tool(definition("files", "grep")),
        tool(ToolDefinition { exposure: Exposure::Internal, ..definition("files", "helper") }),
        tool(ToolDefinition { unsafe_in: vec!["telegram".to_owned()], ..definition("shell", "bash") }),
        tool(ToolDefinition { needs_conversation: true, ..definition("planning", "todo_list") }),
    ];
    Snapshot::new(tools, vec![]).expect("the names differ")
}

pub(crate) fn caller(pinned: Option<Toolset>) -> Caller {
    let key =
        pinned.map(|toolset| KeyIdentity { id: "k1".into(), name: "robot".into(), pinned: Some(toolset) });
    #[expect(clippy::disallowed_methods, reason = "the test says who asks")]
    Caller::authenticated(Identity { user_id: "u1".into(), username: "bob".into(), role: Role::User, key })
}

pub(crate) fn request(scope: Scope) -> Request {
    Request::new(caller(None), scope)
}
