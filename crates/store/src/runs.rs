//! What is said in conversations, and the runs in between.

use async_trait::async_trait;
use serde_json::Value;
use sqlx::sqlite::SqliteRow;
use toolshelf_runtime::store::{
    MessageRole, MessageRow, NodeKind, RunNodeRow, RunRow, RunState, Runs, StoreError,
};

use crate::columns::columns;
use crate::stored::{Stored, micros, signed};
use crate::unit::SqliteUnit;

/// Runs, up to the condition.
macro_rules! select_runs {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            columns!(
                "runs": "id", "conversation_id", "state", "code", "detail", "snapshot_revision", "started_at",
                "finished_at",
            ),
            " FROM runs ",
            $rest
        )
    };
}

/// Parts of runs, up to the condition.
macro_rules! select_nodes {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            columns!(
                "run_nodes": "run_id", "number", "parent", "kind", "state", "name", "arguments", "text", "code",
                "verdict", "started_at", "finished_at",
            ),
            " FROM run_nodes ",
            $rest
        )
    };
}

/// Messages, up to the condition.
macro_rules! select_messages {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            columns!(
                "messages": "conversation_id", "number", "id", "role", "text", "run_id", "tools_override",
                "created_at",
            ),
            " FROM messages ",
            $rest
        )
    };
}

fn state_text(state: RunState) -> &'static str {
    match state {
        RunState::Running => "running",
        RunState::Done => "done",
        RunState::Failed => "failed",
        RunState::Cancelled => "cancelled",
        RunState::Interrupted => "interrupted",
    }
}

fn read_state(stored: Stored<'_>, column: &'static str) -> Result<RunState, StoreError> {
    let all =
        [RunState::Running, RunState::Done, RunState::Failed, RunState::Cancelled, RunState::Interrupted];
    let text: &str = stored.get(column)?;
    all.into_iter()
        .find(|state| state_text(*state) == text)
        .ok_or_else(|| stored.damaged(column, format_args!("{text:?} is no state")))
}

fn kind_text(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::UserMessage => "user_message",
        NodeKind::ModelCall => "model_call",
        NodeKind::ToolCall => "tool_call",
    }
}

fn read_json(stored: Stored<'_>, column: &'static str) -> Result<Option<Value>, StoreError> {
    let text: Option<&str> = stored.get(column)?;
    text.map(|text| serde_json::from_str(text).map_err(|error| stored.damaged(column, error))).transpose()
}

fn read_run(row: &SqliteRow) -> Result<RunRow, StoreError> {
    let stored = Stored::new(row, &["runs.id"]);
    Ok(RunRow {
        id: stored.get("runs.id")?,
        conversation_id: stored.get("runs.conversation_id")?,
        state: read_state(stored, "runs.state")?,
        code: stored.get("runs.code")?,
        detail: stored.get("runs.detail")?,
        snapshot_revision: stored.number("runs.snapshot_revision")?,
        started_at: stored.time("runs.started_at")?,
        finished_at: stored.time_or_none("runs.finished_at")?,
    })
}

fn read_node(row: &SqliteRow) -> Result<RunNodeRow, StoreError> {
    let stored = Stored::new(row, &["run_nodes.run_id", "run_nodes.number"]);
    let kind: &str = stored.get("run_nodes.kind")?;
    let parent: Option<i64> = stored.get("run_nodes.parent")?;
    Ok(RunNodeRow {
        run_id: stored.get("run_nodes.run_id")?,
        number: stored.number("run_nodes.number")?,
        parent: parent
            .map(|parent| u32::try_from(parent).map_err(|error| stored.damaged("run_nodes.parent", error)))
            .transpose()?,
        kind: [NodeKind::UserMessage, NodeKind::ModelCall, NodeKind::ToolCall]
            .into_iter()
            .find(|known| kind_text(*known) == kind)
            .ok_or_else(|| stored.damaged("run_nodes.kind", format_args!("{kind:?} is no kind")))?,
        state: read_state(stored, "run_nodes.state")?,
        name: stored.get("run_nodes.name")?,
        arguments: read_json(stored, "run_nodes.arguments")?,
        text: stored.get("run_nodes.text")?,
        code: stored.get("run_nodes.code")?,
        verdict: read_json(stored, "run_nodes.verdict")?,
        started_at: stored.time("run_nodes.started_at")?,
        finished_at: stored.time_or_none("run_nodes.finished_at")?,
    })
}

fn read_message(row: &SqliteRow) -> Result<MessageRow, StoreError> {
    let stored = Stored::new(row, &["messages.conversation_id", "messages.number"]);
    let role: &str = stored.get("messages.role")?;
    Ok(MessageRow {
        conversation_id: stored.get("messages.conversation_id")?,
        number: stored.number("messages.number")?,
        id: stored.get("messages.id")?,
        role: match role {
            "user" => MessageRole::User,
            "assistant" => MessageRole::Assistant,
            _ => return Err(stored.damaged("messages.role", format_args!("{role:?} is no role"))),
        },
        text: stored.get("messages.text")?,
        run_id: stored.get("messages.run_id")?,
        tools_override: read_json(stored, "messages.tools_override")?,
        created_at: stored.time("messages.created_at")?,
    })
}

#[async_trait]
impl Runs for SqliteUnit {
    async fn insert_run(&mut self, run: &RunRow) -> Result<(), StoreError> {
        if self.find_running(&run.conversation_id).await?.is_some() && run.state == RunState::Running {
            return Err(StoreError::Taken("conversation_id"));
        }
        self.execute(
            sqlx::query(
                "INSERT INTO runs (id, conversation_id, state, code, detail, snapshot_revision, started_at, \
                 finished_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            )
            .bind(&run.id)
            .bind(&run.conversation_id)
            .bind(state_text(run.state))
            .bind(&run.code)
            .bind(&run.detail)
            .bind(signed(run.snapshot_revision)?)
            .bind(micros(run.started_at))
            .bind(run.finished_at.map(micros)),
        )
        .await?;
        Ok(())
    }

    async fn find_run(&mut self, id: &str) -> Result<Option<RunRow>, StoreError> {
        let row = self.optional(sqlx::query(select_runs!("WHERE runs.id = $1")).bind(id)).await?;
        row.as_ref().map(read_run).transpose()
    }

    async fn find_running(&mut self, conversation_id: &str) -> Result<Option<RunRow>, StoreError> {
        let statement = select_runs!("WHERE runs.conversation_id = $1 AND runs.state = 'running'");
        let row = self.optional(sqlx::query(statement).bind(conversation_id)).await?;
        row.as_ref().map(read_run).transpose()
    }

    async fn finish_run(&mut self, run: &RunRow) -> Result<bool, StoreError> {
        let ended = self
            .execute(
                sqlx::query(
                    "UPDATE runs SET state = $1, code = $2, detail = $3, finished_at = $4 \
                     WHERE id = $5 AND state = 'running'",
                )
                .bind(state_text(run.state))
                .bind(&run.code)
                .bind(&run.detail)
                .bind(run.finished_at.map(micros))
                .bind(&run.id),
            )
            .await?;
        Ok(ended == 1)
    }

    async fn list_running(&mut self) -> Result<Vec<RunRow>, StoreError> {
        let statement = select_runs!("WHERE runs.state = 'running' ORDER BY runs.id");
        self.all(sqlx::query(statement)).await?.iter().map(read_run).collect()
    }

    async fn put_run_node(&mut self, node: &RunNodeRow) -> Result<(), StoreError> {
        self.execute(
            sqlx::query(
                "INSERT INTO run_nodes (run_id, number, parent, kind, state, name, arguments, text, code, verdict, \
                 started_at, finished_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
                 ON CONFLICT (run_id, number) DO UPDATE SET state = excluded.state, text = excluded.text, \
                 code = excluded.code, verdict = excluded.verdict, finished_at = excluded.finished_at",
            )
            .bind(&node.run_id)
            .bind(i64::from(node.number))
            .bind(node.parent.map(i64::from))
            .bind(kind_text(node.kind))
            .bind(state_text(node.state))
            .bind(&node.name)
            .bind(node.arguments.as_ref().map(Value::to_string))
            .bind(&node.text)
            .bind(&node.code)
            .bind(node.verdict.as_ref().map(Value::to_string))
            .bind(micros(node.started_at))
            .bind(node.finished_at.map(micros)),
        )
        .await?;
        Ok(())
    }

    async fn list_run_nodes(&mut self, run_id: &str) -> Result<Vec<RunNodeRow>, StoreError> {
        let statement = select_nodes!("WHERE run_nodes.run_id = $1 ORDER BY run_nodes.number");
        self.all(sqlx::query(statement).bind(run_id)).await?.iter().map(read_node).collect()
    }

    async fn append_message(&mut self, message: &MessageRow) -> Result<u64, StoreError> {
        // Writers wait for each other, so nobody takes the number in between.
        let last = "SELECT COALESCE(MAX(number), 0) FROM messages WHERE conversation_id = $1";
        let number = self.count(sqlx::query(last).bind(&message.conversation_id)).await? + 1;
        self.execute(
            sqlx::query(
                "INSERT INTO messages (conversation_id, number, id, role, text, run_id, tools_override, created_at) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            )
            .bind(&message.conversation_id)
            .bind(signed(number)?)
            .bind(&message.id)
            .bind(match message.role {
                MessageRole::User => "user",
                MessageRole::Assistant => "assistant",
            })
            .bind(&message.text)
            .bind(&message.run_id)
            .bind(message.tools_override.as_ref().map(Value::to_string))
            .bind(micros(message.created_at)),
        )
        .await?;
        Ok(number)
    }

    async fn list_messages(
        &mut self,
        conversation_id: &str,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<MessageRow>, StoreError> {
        let statement = sqlx::query(select_messages!(
            "WHERE messages.conversation_id = $1 AND messages.number < $2 ORDER BY messages.number DESC LIMIT $3"
        ));
        let before = before.and_then(|before| i64::try_from(before).ok()).unwrap_or(i64::MAX);
        let statement = statement.bind(conversation_id).bind(before).bind(i64::from(limit));
        self.all(statement).await?.iter().map(read_message).collect()
    }

    async fn list_told(&mut self, conversation_id: &str, limit: u32) -> Result<Vec<MessageRow>, StoreError> {
        let statement = sqlx::query(select_messages!(
            "JOIN runs ON runs.id = messages.run_id WHERE messages.conversation_id = $1 \
             AND (messages.role = 'user' OR runs.state = 'done') ORDER BY messages.number DESC LIMIT $2"
        ));
        let statement = statement.bind(conversation_id).bind(i64::from(limit));
        self.all(statement).await?.iter().map(read_message).collect()
    }

    async fn count_messages(&mut self, conversation_id: &str) -> Result<u64, StoreError> {
        let statement = "SELECT COUNT(*) FROM messages WHERE conversation_id = $1";
        self.count(sqlx::query(statement).bind(conversation_id)).await
    }

    async fn list_runs_of_messages(
        &mut self,
        conversation_id: &str,
        first: u64,
        last: u64,
    ) -> Result<Vec<RunRow>, StoreError> {
        let statement = select_runs!(
            "WHERE runs.id IN (SELECT messages.run_id FROM messages WHERE messages.conversation_id = $1 \
             AND messages.number BETWEEN $2 AND $3) ORDER BY runs.id"
        );
        let statement = sqlx::query(statement).bind(conversation_id).bind(signed(first)?).bind(signed(last)?);
        self.all(statement).await?.iter().map(read_run).collect()
    }

    async fn list_tool_calls(
        &mut self,
        conversation_id: &str,
        first: u64,
        last: u64,
    ) -> Result<Vec<RunNodeRow>, StoreError> {
        let statement = select_nodes!(
            "WHERE run_nodes.kind = 'tool_call' AND run_nodes.run_id IN (SELECT messages.run_id FROM messages \
             WHERE messages.conversation_id = $1 AND messages.number BETWEEN $2 AND $3) \
             ORDER BY run_nodes.run_id, run_nodes.number"
        );
        let statement = sqlx::query(statement).bind(conversation_id).bind(signed(first)?).bind(signed(last)?);
        self.all(statement).await?.iter().map(read_node).collect()
    }
}
