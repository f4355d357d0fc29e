use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::files::walk::walk;
use crate::testing::Bench;
use crate::{Workspaces, blocking};

/// The lines of a result, and the counts at its end.
async fn grep(bench: &Bench, arguments: Value) -> (Vec<String>, String) {
    let text = bench.call("grep", arguments).await.text;
    match text.rsplit_once("\n\n[") {
        Some((lines, counts)) => (lines.lines().map(str::to_owned).collect(), format!("[{counts}")),
        None => (Vec::new(), text),
    }
}

fn tree() -> Bench {
    let bench = Bench::new();
    for (seconds, (path, text)) in (100_u64..).zip([
        ("old.txt", "alpha\nbeta\n"),
        ("src/main.rs", "fn alpha() {}\r\n// Größe 读\r\nfn beta() {}"),
        ("notes.md", "Alpha: x\n"),
    ]) {
        bench.write(path, text);
        bench.touch(path, seconds);
    }
    bench
}

#[tokio::test]
async fn matches_have_their_place_the_newest_file_first() {
    let bench = tree();
    let (lines, counts) = grep(&bench, json!({"pattern": "alpha"})).await;
    assert_eq!(lines, ["src/main.rs:1:fn alpha() {}", "old.txt:1:alpha"]);
    assert_eq!(counts, "[2 matching lines in 2 files; 3 files searched.]");
    let (lines, _) = grep(&bench, json!({"pattern": "alpha", "ignore_case": true})).await;
    assert_eq!(lines[0], "notes.md:1:Alpha: x");
    let (lines, _) = grep(&bench, json!({"pattern": r"gr\w+e \w$", "ignore_case": true})).await;
    assert_eq!(lines, ["src/main.rs:2:// Größe 读"]);
    let (lines, counts) = grep(&bench, json!({"pattern": "gamma"})).await;
    assert_eq!((lines.len(), counts.as_str()), (0, "No matches for \"gamma\" in 3 files."));
    let data = bench.call("grep", json!({"pattern": "beta"})).await.data.unwrap();
    assert_eq!(data["matches"], json!([{"path": "src/main.rs", "line": 3}, {"path": "old.txt", "line": 2}]));
}

#[tokio::test]
async fn a_path_or_a_glob_chooses_what_is_searched() {
    let bench = tree();
    bench.write("src/deep/x.rs", "alpha");
    for (arguments, searched) in [
        (json!({"pattern": "zzz", "path": "src"}), 2),
        (json!({"pattern": "zzz", "path": "src/main.rs"}), 1),
        (json!({"pattern": "zzz", "glob": "*.rs"}), 2),
        (json!({"pattern": "zzz", "glob": "src/*.rs"}), 1),
        (json!({"pattern": "zzz", "glob": "*.{md,txt}"}), 2),
        (json!({"pattern": "zzz", "glob": null}), 4),
    ] {
        let data = bench.call("grep", arguments.clone()).await.data.unwrap();
        assert_eq!(data["searched_files"], json!(searched), "{arguments}");
    }
    bench.fail("grep", json!({"pattern": "x", "glob": "[a"})).await;
    bench.fail("grep", json!({"pattern": "x", "glob": "../*"})).await;
    bench.fail("grep", json!({"pattern": "x", "glob": "*", "path": "old.txt"})).await;
}

#[tokio::test]
async fn context_shows_the_lines_around_once() {
    let bench = Bench::new();
    bench.write("a.txt", "1\n2\nhit\n4\n5\n6\n7\nhit\nhit\n10\n11\n12\nhit");
    let (lines, counts) = grep(&bench, json!({"pattern": "hit", "context": 1})).await;
    let expected = [
        "a.txt-2-2",
        "a.txt:3:hit",
        "a.txt-4-4",
        "--",
        "a.txt-7-7",
        "a.txt:8:hit",
        "a.txt:9:hit",
        "a.txt-10-10",
        "--",
        "a.txt-12-12",
        "a.txt:13:hit",
    ];
    assert_eq!(lines, expected);
    assert!(counts.starts_with("[4 matching lines in 1 file;"), "{counts}");
    // Groups that touch are one.
    let (lines, _) = grep(&bench, json!({"pattern": "hit", "context": 2})).await;
    assert!(!lines[..12].contains(&"--".to_owned()) && lines.len() == 13, "{lines:?}");
    // The lines after the last match of the limit are still shown.
    let (lines, _) = grep(&bench, json!({"pattern": "hit", "context": 1, "limit": 1})).await;
    assert_eq!(lines, ["a.txt-2-2", "a.txt:3:hit", "a.txt-4-4"]);
    bench.refuse("grep", json!({"pattern": "x", "context": 21})).await;
}

#[tokio::test]
async fn limits_are_said() {
    let bench = Bench::new();
    for name in ["a", "b", "c"] {
        bench.write(name, "hit\n".repeat(50));
    }
    let (lines, counts) = grep(&bench, json!({"pattern": "hit", "limit": 60})).await;
    assert_eq!(lines.len(), 60);
    assert!(counts.contains("Stopped there"), "{counts}");
    let (lines, counts) = grep(&bench, json!({"pattern": "hit", "files_only": true})).await;
    assert_eq!(lines.len(), 3);
    assert_eq!(counts, "[3 files with matches; 3 files searched.]");
    let (lines, counts) = grep(&bench, json!({"pattern": "hit", "files_only": true, "limit": 2})).await;
    assert!(lines.len() == 2 && counts.contains("Stopped there"), "{counts}");
    for limit in [0, 1_001] {
        bench.refuse("grep", json!({"pattern": "hit", "limit": limit})).await;
    }
    // What fits into the result ends earlier than the limit, and the counts still stand at the end.
    bench.write("wide", format!("{}\n", "hit ".repeat(90)).repeat(1_000));
    let (lines, counts) = grep(&bench, json!({"pattern": "hit", "path": "wide", "limit": 1_000})).await;
    assert!(lines.len() < 60 && counts.contains("Stopped there"), "{counts}");
}

#[tokio::test]
async fn huge_lines_are_shown_around_their_match() {
    let bench = Bench::new();
    bench.write("min.js", format!("{}needle{}", "ä".repeat(20_000), "读".repeat(20_000)));
    let (lines, _) = grep(&bench, json!({"pattern": "needle"})).await;
    let line = &lines[0];
    assert!(line.starts_with("min.js:1:…ä") && line.ends_with("读…"), "{line}");
    assert!(line.contains("äneedle读") && line.chars().count() < 420 && !line.contains('\u{fffd}'), "{line}");
    // What is beyond the first 64 KiB of a line is not searched, and that is said.
    bench.write("long", format!("{}needle\nneedle", "x".repeat(64 * 1024)));
    let (lines, counts) = grep(&bench, json!({"pattern": "needle", "path": "long"})).await;
    assert_eq!(lines, ["long:2:needle"]);
    assert!(counts.contains("Of very long lines only the first 64 KiB were searched."), "{counts}");
    bench.write("whole", format!("{}needle", "x".repeat(64 * 1024 - 6)));
    let (lines, counts) = grep(&bench, json!({"pattern": "needle", "path": "whole"})).await;
    assert!(lines.len() == 1 && !counts.contains("very long lines"), "{counts}");
}

#[tokio::test]
async fn what_is_no_text_or_ignored_is_skipped() {
    let bench = Bench::new();
    bench.write(".gitignore", "ignored\n");
    bench.write("ignored/x", "hit");
    bench.write(".git/x", "hit");
    bench.write("binary", b"hit\0hit");
    bench.write("image.png", b"\x89PNG\r\n\x1a\nhit");
    bench.write("large", "hit\n".repeat(2_600_000));
    bench.write("latin", b"\xe9 hit");
    bench.write("empty", "");
    let (lines, counts) = grep(&bench, json!({"pattern": "hit|^$"})).await;
    assert_eq!(lines, ["latin:1:\u{fffd} hit"]);
    assert!(counts.contains("Skipped 2 binary files. Skipped 1 large file."), "{counts}");
    // Named, they are searched or refused with a reason.
    assert_eq!(grep(&bench, json!({"pattern": "hit", "path": "ignored/x"})).await.0, ["ignored/x:1:hit"]);
    assert_eq!(grep(&bench, json!({"pattern": "hit", "path": "ignored"})).await.0, ["ignored/x:1:hit"]);
    assert!(
        bench.fail("grep", json!({"pattern": "hit", "path": "binary"})).await.contains("not a text file")
    );
    assert!(
        bench.fail("grep", json!({"pattern": "hit", "path": "large"})).await.contains("larger than 10.0 MB")
    );
}

#[tokio::test]
async fn a_wrong_expression_is_an_error_with_its_place() {
    let bench = tree();
    let error = bench.fail("grep", json!({"pattern": "fn (x"})).await;
    assert_eq!(error, "The pattern is not a valid regular expression: unclosed group at character 4.");
    bench.refuse("grep", json!({"pattern": ""})).await;
    bench.refuse("grep", json!({"pattern": "x".repeat(1_001)})).await;
}

#[tokio::test]
async fn an_expression_that_backtracks_elsewhere_is_linear_here() {
    let bench = Bench::new();
    bench.write("a", "a".repeat(100_000));
    let (lines, _) = grep(&bench, json!({"pattern": "(a+)+b"})).await;
    assert!(lines.is_empty());
}

#[test]
fn a_cancelled_walk_ends() {
    let data = tempfile::tempdir().unwrap();
    let workspace = Workspaces::open(data.path()).unwrap().of("alice").unwrap();
    for number in 0..10 {
        workspace.write(number.to_string(), "x").unwrap();
    }
    // Cancelled in the middle: the walk asks about the third file when nobody waits any more.
    let cancel = CancellationToken::new();
    let asked = std::cell::Cell::new(0);
    let wanted = |_: &std::path::Path| {
        asked.set(asked.get() + 1);
        if asked.get() == 3 {
            cancel.cancel();
        }
        true
    };
    let result = walk(&workspace, std::path::Path::new(""), &cancel, wanted);
    assert_eq!((result.err(), asked.get()), (Some(blocking::cancelled()), 3));
}
