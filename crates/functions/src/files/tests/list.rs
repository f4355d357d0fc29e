use serde_json::json;

use crate::testing::Bench;

#[tokio::test]
async fn folders_come_first_and_files_have_sizes() {
    let bench = Bench::new();
    bench.write("b.txt", "x".repeat(1_500));
    bench.write(".hidden", "");
    bench.write("src/deep/x.rs", "1");
    bench.write("a dir/y", "1");
    let output = bench.call("list", json!({})).await;
    assert_eq!(output.text, "a dir/\nsrc/\n.hidden  (0 bytes)\nb.txt  (1.5 KB)\n\n[2 folders, 2 files.]");
    let data = output.data.unwrap();
    assert_eq!(data["entries"][0], json!({"path": "a dir", "type": "folder", "size": null}));
    assert_eq!(data["entries"][3], json!({"path": "b.txt", "type": "file", "size": 1500}));
    let output = bench.call("list", json!({"path": "src", "depth": 2})).await;
    assert_eq!(output.text, "deep/\n  x.rs  (1 byte)\n\n[1 folder, 1 file.]");
    assert_eq!(output.data.unwrap()["entries"][1]["path"], json!("src/deep/x.rs"));
}

#[tokio::test]
async fn a_long_list_says_that_there_is_more() {
    let bench = Bench::new();
    for number in 0..20 {
        bench.write(&format!("{number:02}"), "");
    }
    let output = bench.call("list", json!({"limit": 20})).await;
    assert!(output.text.ends_with("[0 folders, 20 files.]"), "{}", output.text);
    let output = bench.call("list", json!({"limit": 19})).await;
    assert!(output.text.contains("18  (0 bytes)\n\n[0 folders, 19 files. There is more;"), "{}", output.text);
    assert_eq!(output.data.unwrap()["complete"], json!(false));
    // Long names fill the result before the limit does.
    for number in 0..200 {
        bench.write(&format!("{number:03}{}", "x".repeat(240)), "");
    }
    let output = bench.call("list", json!({"limit": 1_000})).await;
    assert!(output.text.chars().count() < 30_000 && output.text.contains("There is more"));
    for arguments in [json!({"limit": 0}), json!({"limit": 1_001}), json!({"depth": 0}), json!({"depth": 6})]
    {
        bench.refuse("list", arguments).await;
    }
}

#[tokio::test]
async fn an_empty_folder_says_so() {
    let bench = Bench::new();
    assert_eq!(bench.call("list", json!({})).await.text, "The workspace is empty.");
    std::fs::create_dir(bench.workspace().join("none")).unwrap();
    assert_eq!(bench.call("list", json!({"path": "none/"})).await.text, "\"none\" is empty.");
    bench.write("file", "");
    assert_eq!(bench.fail("list", json!({"path": "file"})).await, "\"file\" is not a folder.");
}

#[tokio::test]
async fn names_cannot_forge_lines() {
    let bench = Bench::new();
    bench.write("a\nb/  (link)", "");
    let output = bench.call("list", json!({})).await;
    assert_eq!(output.text, "a\\nb/\n\n[1 folder, 0 files.]");
}
