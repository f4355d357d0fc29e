//! Rows to test with.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use toolshelf_core::{NewTools, Role};
use toolshelf_runtime::store::{
    ApiKeyRow, ConversationRow, FallbackOrigin, MessageRole, MessageRow, NewAudit, NodeKind, ProfileRow,
    RunNodeRow, RunRow, RunState, SessionRow, Store, UserRow,
};

/// A time, so many seconds after some start, with all digits that a store keeps.
pub(crate) fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(1_796_000_000_123_456).unwrap() + TimeDelta::seconds(seconds)
}

/// A hash that differs for each number.
pub(crate) fn hash(number: u8) -> [u8; 32] {
    let mut hash = [0xa5; 32];
    hash[0] = number;
    hash[31] = 0;
    hash
}

/// A user with the role to use the system.
pub(crate) fn user(id: &str, username: &str) -> UserRow {
    UserRow {
        id: id.to_owned(),
        username: username.to_owned(),
        role: Role::User,
        disabled: false,
        password_hash: format!("$argon2id$v=19$of-{id}"),
        revision: 1,
        created_at: at(0),
        updated_at: at(1),
    }
}

/// A session.
pub(crate) fn session(number: u8, user_id: &str) -> SessionRow {
    SessionRow {
        token_hash: hash(number),
        user_id: user_id.to_owned(),
        created_at: at(10),
        expires_at: at(100),
    }
}

/// A key with everything set that may be absent, but not revoked.
pub(crate) fn api_key(number: u8, user_id: &str) -> ApiKeyRow {
    ApiKeyRow {
        id: format!("key-{number}"),
        user_id: user_id.to_owned(),
        name: format!("Key {number}"),
        token_hash: hash(number),
        scopes: vec!["tools:read".to_owned(), "tools:\"call\" ✓".to_owned()],
        pinned: Some("research".to_owned()),
        expires_at: Some(at(1000)),
        created_at: at(i64::from(number)),
        revoked_at: None,
    }
}

/// A conversation.
pub(crate) fn conversation(id: &str, user_id: &str) -> ConversationRow {
    ConversationRow {
        id: id.to_owned(),
        user_id: user_id.to_owned(),
        title: format!("About {id}"),
        pick: Some("profile:p1".to_owned()),
        fallback: Some(("default".to_owned(), FallbackOrigin::Active)),
        pin: Some("none".to_owned()),
        model: "console".to_owned(),
        tools_enabled: false,
        web_search: Some(true),
        attended: false,
        revision: 1,
        created_at: at(0),
        updated_at: at(1),
    }
}

/// A run that goes on.
pub(crate) fn run(id: &str, conversation_id: &str) -> RunRow {
    RunRow {
        id: id.to_owned(),
        conversation_id: conversation_id.to_owned(),
        state: RunState::Running,
        code: None,
        detail: None,
        snapshot_revision: 0,
        started_at: at(40),
        finished_at: None,
    }
}

/// A call that goes on.
pub(crate) fn run_node(run_id: &str, number: u32) -> RunNodeRow {
    RunNodeRow {
        run_id: run_id.to_owned(),
        number,
        parent: (number > 1).then_some(1),
        kind: NodeKind::ToolCall,
        state: RunState::Running,
        name: "read".to_owned(),
        arguments: Some(serde_json::json!({"path": "a"})),
        text: String::new(),
        code: None,
        verdict: None,
        started_at: at(40),
        finished_at: None,
    }
}

/// A message of the person.
pub(crate) fn message(id: &str, conversation_id: &str, number: u64, run_id: &str) -> MessageRow {
    MessageRow {
        conversation_id: conversation_id.to_owned(),
        number,
        id: id.to_owned(),
        role: MessageRole::User,
        text: format!("Text of {id}"),
        run_id: run_id.to_owned(),
        tools_override: None,
        created_at: at(40),
    }
}

/// A profile with tools that are not in the order of their names.
pub(crate) fn profile(id: &str, name: &str, owner_id: &str) -> ProfileRow {
    ProfileRow {
        id: id.to_owned(),
        name: name.to_owned(),
        description: format!("For {id}"),
        owner_id: owner_id.to_owned(),
        tools: vec!["web.search".to_owned(), "time.now".to_owned()],
        pinned: vec!["time.now".to_owned()],
        new_tools: NewTools::Hold,
        new_tools_since: 2,
        revision: 1,
        created_at: at(0),
        updated_at: at(1),
    }
}

/// An entry of the audit log.
pub(crate) fn entry(target: &str) -> NewAudit {
    NewAudit {
        at: at(5),
        actor: Some("Anna".to_owned()),
        key: Some("CI".to_owned()),
        action: "tool.disabled",
        target: target.to_owned(),
        detail: "It was slow.".to_owned(),
    }
}

/// Adds users.
pub(crate) async fn with_users(store: &Arc<dyn Store>, users: &[UserRow]) {
    let mut unit = store.begin().await.unwrap();
    for user in users {
        unit.insert_user(user).await.unwrap();
    }
    unit.commit().await.unwrap();
}
