//! A scripted MCP server, started by the server under test as a program of its own.

use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

/// A scripted MCP server. What it can do stands in `tests/examples/fake_mcp.rs`.
#[derive(Debug)]
pub struct FakeMcp {
    folder: TempDir,
}

impl FakeMcp {
    /// A server that does what the script says.
    pub fn new(script: Value) -> Self {
        let fake = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        fake.set(script);
        fake
    }

    /// A server with plain tools of these names.
    pub fn with_tools(names: &[&str]) -> Self {
        Self::new(json!({ "tools": names.iter().map(|name| plain_tool(name)).collect::<Vec<_>>() }))
    }

    /// Changes what it does, also while it runs.
    pub fn set(&self, mut script: Value) {
        script["record"] = json!(self.record());
        let written = self.folder.path().join("script.new");
        std::fs::write(&written, script.to_string()).expect("a script");
        std::fs::rename(written, self.folder.path().join("script.json")).expect("a script");
    }

    fn record(&self) -> PathBuf {
        self.folder.path().join("record")
    }

    /// A file beside the script.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The messages that it was sent, oldest first.
    pub fn received(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.record()).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// How to reach it, as the API takes it.
    pub fn connection(&self) -> Value {
        let test = std::env::current_exe().expect("the path of this test");
        let program = test.ancestors().nth(2).expect("a target folder").join("examples/fake_mcp");
        assert!(
            program.exists(),
            "{} is missing: `cargo build --workspace --examples` makes it",
            program.display()
        );
        json!({
            "transport": "stdio",
            "command": program,
            "args": [self.folder.path().join("script.json")],
        })
    }
}

/// A tool as servers list them.
pub fn plain_tool(name: &str) -> Value {
    json!({
        "name": name,
        "description": format!("Does {name}."),
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
    })
}
