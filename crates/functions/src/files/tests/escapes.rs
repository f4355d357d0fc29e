//! What every function on files refuses, whatever it does.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use serde_json::{Value, json};
use toolshelf_core::{Layer, Refusal};
use toolshelf_runtime::CallRefused;

use crate::testing::Bench;

/// A call of each function with this path.
fn calls(path: &str) -> [(&'static str, Value); 4] {
    [
        ("read", json!({"path": path})),
        ("list", json!({"path": path})),
        ("glob", json!({"pattern": "**", "path": path})),
        ("grep", json!({"pattern": ".", "path": path})),
    ]
}

/// A bench with a file and a folder outside of the workspace, and links to them.
fn bench() -> Bench {
    let bench = Bench::new();
    let data = bench.data();
    std::fs::write(data.join("secret.txt"), "secret").unwrap();
    std::fs::create_dir(data.join("workspaces/bob")).unwrap();
    std::fs::write(data.join("workspaces/bob/file.txt"), "secret").unwrap();
    bench.write("inside/file.txt", "inside");
    let link = |target: &str, name: &str| symlink(target, bench.workspace().join(name)).unwrap();
    link("../../secret.txt", "file-link");
    link("../bob", "folder-link");
    link(data.join("secret.txt").to_str().unwrap(), "absolute-link");
    link("/", "root-link");
    link("chain-2", "chain-1");
    link("inside/../chain-3", "chain-2");
    link("../bob/file.txt", "chain-3");
    link("inside/missing/../../../bob", "through-nothing");
    link("loop-b", "loop-a");
    link("loop-a", "loop-b");
    bench
}

#[tokio::test]
async fn no_path_leads_outside() {
    let bench = bench();
    for path in [
        "..",
        "../bob",
        "../bob/file.txt",
        "inside/../../bob/file.txt",
        "inside/../../../secret.txt",
        "/etc/passwd",
        "//etc/passwd",
        "file-link",
        "folder-link",
        "folder-link/file.txt",
        "folder-link/../alice/inside",
        "absolute-link",
        "root-link",
        "root-link/etc/passwd",
        "chain-1",
        "chain-2",
        "through-nothing",
        "loop-a",
    ] {
        for (name, arguments) in calls(path) {
            let error = bench.fail(name, arguments).await;
            assert!(!error.contains("secret\n") && error.len() < 300, "{name} {path}: {error}");
        }
    }
}

#[tokio::test]
async fn an_error_does_not_tell_what_is_outside() {
    let bench = bench();
    symlink("../../absent.txt", bench.workspace().join("to-nothing")).unwrap();
    for (name, arguments) in calls("file-link") {
        let there = bench.fail(name, arguments).await;
        let Some((_, arguments)) = calls("to-nothing").into_iter().find(|call| call.0 == name) else {
            continue;
        };
        let absent = bench.fail(name, arguments).await;
        assert_eq!(there.replace("file-link", "X"), absent.replace("to-nothing", "X"), "{name}");
        assert!(there.contains("leads outside of the workspace"), "{there}");
    }
}

#[tokio::test]
async fn links_inside_are_followed_when_they_are_named() {
    let bench = bench();
    symlink("inside", bench.workspace().join("near")).unwrap();
    assert!(bench.call("read", json!({"path": "near/file.txt"})).await.text.contains("inside"));
    let found = bench.call("glob", json!({"pattern": "*", "path": "near"})).await;
    assert_eq!(found.data.unwrap()["paths"], json!(["inside/file.txt"]));
}

#[tokio::test]
async fn walks_do_not_follow_links() {
    let bench = bench();
    symlink(".", bench.workspace().join("inside/self")).unwrap();
    let found = bench.call("glob", json!({"pattern": "**"})).await;
    assert_eq!(found.data.unwrap()["paths"], json!(["inside/file.txt"]));
    let found = bench.call("grep", json!({"pattern": "secret|inside"})).await;
    assert_eq!(found.data.unwrap()["matches"], json!([{"path": "inside/file.txt", "line": 1}]));
    let listed = bench.call("list", json!({"depth": 5})).await;
    assert!(
        listed.text.contains("  self  (link)\n") && listed.text.contains("root-link  (link)\n"),
        "{}",
        listed.text
    );
    assert!(!listed.text.contains("etc") && !listed.text.contains("bob"), "{}", listed.text);
}

#[tokio::test]
async fn what_is_no_path_is_refused() {
    let bench = bench();
    for (path, reason) in [
        ("a\0b".to_owned(), "NUL"),
        ("a".repeat(256), "too long"),
        ("ä/".repeat(2_000), "too long"),
        ("missing.txt".to_owned(), "does not exist"),
        ("missing/../inside/file.txt".to_owned(), "does not exist"),
        ("inside/file.txt/x".to_owned(), "not a folder"),
        ("inside\\file.txt".to_owned(), "does not exist"),
        ("C:\\inside".to_owned(), "does not exist"),
        ("~".to_owned(), "does not exist"),
    ] {
        for (name, arguments) in calls(&path) {
            let error = bench.fail(name, arguments).await;
            assert!(error.contains(reason), "{name} {path:?}: {error}");
        }
    }
    for path in [json!(""), json!("x".repeat(4_097)), json!(null), json!(1), json!(["a"])] {
        for (name, _) in calls("") {
            bench.refuse(name, json!({"path": path, "pattern": "x"})).await;
        }
    }
    bench.refuse("read", json!({})).await;
    bench.refuse("read", json!({"path": "x", "encoding": "utf-8"})).await;
}

#[tokio::test]
async fn only_regular_files_are_read() {
    let bench = bench();
    let pipe = bench.workspace().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    let _socket = UnixListener::bind(bench.workspace().join("socket")).unwrap();
    symlink("pipe", bench.workspace().join("pipe-link")).unwrap();
    // Nobody ever writes into the pipe, so an opening that waits would wait for ever.
    for (path, what) in [
        ("pipe", "a named pipe"),
        ("pipe-link", "a named pipe"),
        ("socket", "a socket"),
        ("inside", "a folder, not a file"),
        (".", "a folder, not a file"),
    ] {
        let error = bench.fail("read", json!({"path": path})).await;
        assert!(error.contains(what), "{path}: {error}");
    }
    for name in ["list", "glob", "grep"] {
        let error = bench.fail(name, json!({"path": "pipe", "pattern": "x"}).without(name)).await;
        assert!(error.contains("not a folder") || error.contains("named pipe"), "{name}: {error}");
    }
    // A walk passes them by.
    assert_eq!(bench.call("glob", json!({"pattern": "*"})).await.data.unwrap()["total"], json!(0));
    let listed = bench.call("list", json!({})).await;
    assert!(listed.text.contains("pipe  (not a regular file)\n"), "{}", listed.text);
}

/// Drops the arguments that a function does not have.
trait Without {
    fn without(self, name: &str) -> Value;
}

impl Without for Value {
    fn without(mut self, name: &str) -> Value {
        if name == "list" {
            self.as_object_mut().unwrap().remove("pattern");
        }
        self
    }
}

#[tokio::test]
async fn without_the_workspaces_folder_the_functions_cannot_run() {
    let bench = bench();
    std::fs::rename(bench.data().join("workspaces"), bench.data().join("moved")).unwrap();
    for (name, arguments) in calls(".") {
        let result = bench.invoke(name, arguments).await;
        let Err(CallRefused::Refused(Refusal::Removed(verdict))) = result else { panic!("{result:?}") };
        assert_eq!(verdict.layer, Some(Layer::L4));
    }
}
