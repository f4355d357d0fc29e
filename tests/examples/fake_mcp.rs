//! A server for the tests that speaks MCP over standard input and output, line by line, as a script says.
//!
//! The script is a JSON file, named by the first argument. It is read again for each message and every few milliseconds in
//! between; when its `tools` change, the server says so. What it is sent is appended to the script's `record` file.
//!
//! - `tools`: what it lists, as it stands.
//! - `calls`: by the name of a tool, `{"text": …}`, `{"result": …}`, `{"error": …}`, `{"never": true}`, `{"exit": code}` or
//!   `{"waits_for": path}`, which answers when the file is there. Any other call is answered with its arguments.
//! - `exit`: ends at once with this code, as soon as it is read.
//! - `initialize`: members laid over the answer to `initialize`.
//! - `resources`, `prompts`, `read`: the results of `resources/list`, `prompts/list`, `resources/read`.

use std::fs::OpenOptions;
use std::io::{self, BufRead as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};

struct Server {
    script: PathBuf,
    /// The tools that the client was told of, or will ask for.
    tools: Value,
    ready: bool,
    /// The script's file when it was last looked at: a new one comes with every change.
    seen: u64,
    /// Calls that wait for a file: the id, and the file.
    waiting: Vec<(Value, PathBuf)>,
}

fn main() {
    let script = PathBuf::from(std::env::args().nth(1).expect("the script's path"));
    let mut server = Server { tools: Value::Null, ready: false, seen: 0, waiting: Vec::new(), script };
    server.tools = server.read()["tools"].clone();
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    loop {
        match lines.recv_timeout(Duration::from_millis(5)) {
            Ok(line) => {
                if let Ok(message) = serde_json::from_str(&line) {
                    server.take(&message);
                }
            }
            Err(RecvTimeoutError::Timeout) => server.look(),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

impl Server {
    /// The script as it is now. A test writes it in one piece, by renaming.
    fn read(&self) -> Value {
        let text = std::fs::read_to_string(&self.script).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or(Value::Null)
    }

    fn look(&mut self) {
        self.waiting.retain(|(id, file)| {
            if file.exists() {
                text(id, "it waited");
            }
            !file.exists()
        });
        // Reading the script is much more work than seeing that it is the same.
        let file = std::fs::metadata(&self.script).map_or(0, |file| file.ino());
        if self.ready && file == self.seen {
            return;
        }
        self.seen = if self.ready { file } else { 0 };
        let script = self.read();
        if let Some(code) = script["exit"].as_i64() {
            std::process::exit(i32::try_from(code).unwrap_or(1));
        }
        if self.ready && script["tools"] != self.tools {
            self.tools = script["tools"].clone();
            send(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
        }
    }

    fn take(&mut self, message: &Value) {
        let script = self.read();
        if let Some(record) = script["record"].as_str() {
            note(Path::new(record), message);
        }
        if let Some(code) = script["exit"].as_i64() {
            std::process::exit(i32::try_from(code).unwrap_or(1));
        }
        let id = &message["id"];
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => {
                let mut answer = json!({
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": {"tools": {"listChanged": true}, "resources": {}, "prompts": {}},
                    "serverInfo": {"name": "fake", "version": "1.0.0"},
                });
                for (name, value) in script["initialize"].as_object().into_iter().flatten() {
                    answer[name] = value.clone();
                }
                result(id, &answer);
            }
            "notifications/initialized" => self.ready = true,
            "tools/list" => {
                self.tools = script["tools"].clone();
                let tools = if self.tools.is_null() { json!([]) } else { self.tools.clone() };
                result(id, &json!({ "tools": tools }));
            }
            "tools/call" => self.call(id, &message["params"], &script),
            "resources/list" => result(id, &script["resources"]),
            "resources/read" => result(id, &script["read"]),
            "prompts/list" => result(id, &script["prompts"]),
            _ if !id.is_null() => {
                let error = json!({"code": -32601, "message": "There is no such method."});
                send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
            }
            _ => {}
        }
    }

    fn call(&mut self, id: &Value, params: &Value, script: &Value) {
        let how = &script["calls"][params["name"].as_str().unwrap_or_default()];
        if let Some(code) = how["exit"].as_i64() {
            std::process::exit(i32::try_from(code).unwrap_or(1));
        } else if let Some(said) = how["text"].as_str() {
            text(id, said);
        } else if let Some(file) = how["waits_for"].as_str() {
            self.waiting.push((id.clone(), file.into()));
        } else if how["result"].is_object() {
            result(id, &how["result"]);
        } else if how["error"].is_object() {
            send(&json!({"jsonrpc": "2.0", "id": id, "error": how["error"]}));
        } else if how["never"].is_null() {
            text(id, &params["arguments"].to_string());
        }
    }
}

fn send(message: &Value) {
    let mut out = io::stdout().lock();
    // A client that has gone is noticed at the end of the input.
    let _ = writeln!(out, "{message}").and_then(|()| out.flush());
}

fn result(id: &Value, result: &Value) {
    send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
}

fn text(id: &Value, text: &str) {
    result(id, &json!({"content": [{"type": "text", "text": text}]}));
}

fn note(record: &Path, message: &Value) {
    let file = OpenOptions::new().create(true).append(true).open(record);
    if let Ok(mut file) = file {
        let _ = writeln!(file, "{message}");
    }
}
