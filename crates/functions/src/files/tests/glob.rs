use serde_json::{Value, json};

use crate::testing::Bench;

async fn paths(bench: &Bench, arguments: Value) -> Vec<String> {
    let data = bench.call("glob", arguments).await.data.unwrap();
    serde_json::from_value(data["paths"].clone()).unwrap()
}

fn tree() -> Bench {
    let bench = Bench::new();
    for (seconds, path) in
        (100_u64..).zip(["top.rs", "src/a.rs", "src/deep/b.rs", "src/读.md", ".hidden/c.rs"])
    {
        bench.write(path, "x");
        bench.touch(path, seconds);
    }
    bench
}

#[tokio::test]
async fn patterns_find_files_the_newest_first() {
    let bench = tree();
    for (pattern, found) in [
        ("**/*.rs", vec![".hidden/c.rs", "src/deep/b.rs", "src/a.rs", "top.rs"]),
        ("*.rs", vec!["top.rs"]),
        ("./*.rs", vec!["top.rs"]),
        ("src/*", vec!["src/读.md", "src/a.rs"]),
        ("src/**", vec!["src/读.md", "src/deep/b.rs", "src/a.rs"]),
        ("**/?.md", vec!["src/读.md"]),
        ("**/[ab].{rs,md}", vec!["src/deep/b.rs", "src/a.rs"]),
        ("*.py", vec![]),
    ] {
        assert_eq!(paths(&bench, json!({"pattern": pattern})).await, found, "{pattern}");
    }
    assert_eq!(paths(&bench, json!({"pattern": "*.rs", "path": "src"})).await, ["src/a.rs"]);
    let none = bench.call("glob", json!({"pattern": "*.py"})).await;
    assert_eq!(none.text, "No files match \"*.py\".");
}

#[tokio::test]
async fn a_cut_list_says_so() {
    let bench = tree();
    let output = bench.call("glob", json!({"pattern": "**", "limit": 2})).await;
    assert!(output.text.contains("[The newest 2 of 5 files."), "{}", output.text);
    let output = bench.call("glob", json!({"pattern": "**", "limit": 5})).await;
    assert!(output.text.ends_with("\n\n[5 files.]"), "{}", output.text);
    for limit in [0, 1_001] {
        bench.refuse("glob", json!({"pattern": "*", "limit": limit})).await;
    }
}

#[tokio::test]
async fn patterns_that_cannot_match_are_refused() {
    let bench = tree();
    for (pattern, reason) in [
        ("/etc/*", "absolute"),
        ("../*", "contains .."),
        ("src/../../*", "contains .."),
        ("[a", "not valid"),
        ("{a,b", "not valid"),
        ("[z-a]", "not valid"),
        ("a\\", "not valid"),
    ] {
        let error = bench.fail("glob", json!({"pattern": pattern})).await;
        assert!(error.contains(reason), "{pattern}: {error}");
    }
    bench.refuse("glob", json!({"pattern": ""})).await;
    bench.refuse("glob", json!({"pattern": "*".repeat(501)})).await;
}

#[tokio::test]
async fn ignored_files_are_left_out() {
    let bench = Bench::new();
    bench.write(".gitignore", "# comment\n/target\n*.log\n!keep.log\ndocs/*.tmp\n");
    bench.write("sub/.gitignore", "local\r\n!debug.log\n[broken\n");
    for path in [
        "target/x",
        "sub/target/x",
        "a.log",
        "keep.log",
        "sub/debug.log",
        "sub/other.log",
        "sub/local/x",
        "local",
        "docs/a.tmp",
        "docs/in/a.tmp",
        ".git/config",
        "sub/.git",
    ] {
        bench.write(path, "x");
    }
    let mut found = paths(&bench, json!({"pattern": "**"})).await;
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ".gitignore",
            "docs/in/a.tmp",
            "keep.log",
            "local",
            "sub/.gitignore",
            "sub/debug.log",
            "sub/target/x"
        ]
    );
    // The rules of the folders above hold in a folder that is searched on its own.
    let mut found = paths(&bench, json!({"pattern": "**", "path": "sub"})).await;
    found.sort_unstable();
    assert_eq!(found, ["sub/.gitignore", "sub/debug.log", "sub/target/x"]);
    // Who names an ignored folder means it.
    assert_eq!(paths(&bench, json!({"pattern": "*", "path": "target"})).await, ["target/x"]);
    assert_eq!(paths(&bench, json!({"pattern": "*", "path": ".git"})).await, [".git/config"]);
}

#[tokio::test]
async fn deep_folders_are_walked_as_far_as_handles_allow() {
    let bench = Bench::new();
    bench.write(&format!("{}x", "d/".repeat(63)), "x");
    let output = bench.call("glob", json!({"pattern": "**/x"})).await;
    assert!(output.text.ends_with("[1 file.]"), "{}", output.text);
    bench.write(&format!("{}y", "d/".repeat(64)), "x");
    let output = bench.call("glob", json!({"pattern": "**/y"})).await;
    assert!(
        output.text.contains("No files match") && output.text.contains("deeper than 64"),
        "{}",
        output.text
    );
}
