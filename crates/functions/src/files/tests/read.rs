use serde_json::json;

use crate::testing::Bench;

#[tokio::test]
async fn lines_have_numbers_and_a_count() {
    let bench = Bench::new();
    bench.write("a.txt", "one\n\n  读 three");
    let output = bench.call("read", json!({"path": "./a.txt"})).await;
    assert_eq!(output.text, "1\tone\n2\t\n3\t  读 three\n\n[3 lines in all.]");
    let data = output.data.unwrap();
    assert_eq!(
        (&data["lines"], &data["next_offset"], &data["complete"]),
        (&json!(3), &json!(null), &json!(true))
    );
    bench.write("one.txt", "only\n");
    assert!(bench.call("read", json!({"path": "one.txt"})).await.text.ends_with("[1 line in all.]"));
}

#[tokio::test]
async fn pages_follow_each_other_without_gap() {
    let bench = Bench::new();
    let text = (1..=5_000).map(|number| format!("line {number}")).collect::<Vec<_>>().join("\n") + "\n";
    bench.write("long.txt", &text);
    let output = bench.call("read", json!({"path": "long.txt"})).await;
    assert!(output.text.ends_with("[Lines 1 to 1,814 of 5,000. Go on with offset 1815.]"), "{}", output.text);
    let mut seen = String::new();
    let mut offset = json!(1);
    while !offset.is_null() {
        let output = bench.call("read", json!({"path": "long.txt", "offset": offset, "limit": 3_000})).await;
        assert!(output.text.chars().count() < 30_000 && !output.text.contains("left out"));
        let (page, _) = output.text.rsplit_once("\n[").unwrap();
        for line in page.lines() {
            seen.push_str(line.split_once('\t').unwrap().1);
            seen.push('\n');
        }
        offset = output.data.unwrap()["next_offset"].clone();
    }
    assert_eq!(seen, text);
    let output = bench.call("read", json!({"path": "long.txt", "offset": 4_999, "limit": 1})).await;
    assert_eq!(output.text, "4999\tline 4999\n\n[Lines 4,999 to 4,999 of 5,000. Go on with offset 5000.]");
}

#[tokio::test]
async fn an_offset_past_the_end_says_where_the_end_is() {
    let bench = Bench::new();
    bench.write("a.txt", "one\ntwo\n");
    let error = bench.fail("read", json!({"path": "a.txt", "offset": 3})).await;
    assert!(error.contains("has 2 lines") && error.contains("offset 3"), "{error}");
    bench.fail("read", json!({"path": "a.txt", "offset": u64::MAX})).await;
    for (offset, limit) in [(0, 1), (1, 0), (1, 10_001), (-1, 1)] {
        bench.refuse("read", json!({"path": "a.txt", "offset": offset, "limit": limit})).await;
    }
    bench.refuse("read", json!({"path": "a.txt", "offset": 1.5})).await;
}

#[tokio::test]
async fn long_lines_are_cut_at_a_character() {
    let bench = Bench::new();
    bench.write("wide.txt", format!("{}\nshort", "🦀".repeat(2_345)));
    let output = bench.call("read", json!({"path": "wide.txt"})).await;
    assert_eq!(output.text.matches('🦀').count(), 2_000);
    assert!(output.text.contains("🦀 [… 345 characters more]\n2\tshort\n"), "{}", output.text);
    assert!(output.text.ends_with("Lines longer than 2,000 characters are cut.]"), "{}", output.text);
    bench.write("exact.txt", "读".repeat(2_000));
    assert!(bench.call("read", json!({"path": "exact.txt"})).await.text.ends_with("读\n\n[1 line in all.]"));
}

#[tokio::test]
async fn unusual_text_is_shown_and_noted() {
    let bench = Bench::new();
    bench.write("empty.txt", "");
    assert_eq!(bench.call("read", json!({"path": "empty.txt"})).await.text, "\"empty.txt\" is empty.");
    bench.write("crlf.txt", "a\r\nb\r\n");
    let output = bench.call("read", json!({"path": "crlf.txt"})).await;
    assert_eq!(output.text, "1\ta\n2\tb\n\n[2 lines in all. Lines end in CRLF.]");
    bench.write("mixed.txt", "a\r\nb\n");
    assert!(bench.call("read", json!({"path": "mixed.txt"})).await.text.contains("Some lines end in CRLF."));
    bench.write("latin.txt", b"caf\xe9\n");
    let output = bench.call("read", json!({"path": "latin.txt"})).await;
    assert!(
        output.text.starts_with("1\tcaf\u{fffd}\n") && output.text.contains("not all UTF-8"),
        "{}",
        output.text
    );
    bench.write("mark.txt", "\u{feff}a\n\u{fffd}");
    let output = bench.call("read", json!({"path": "mark.txt"})).await;
    assert_eq!(output.text, "1\ta\n2\t\u{fffd}\n\n[2 lines in all.]");
}

#[tokio::test]
async fn binary_files_are_refused_with_type_and_size() {
    let bench = Bench::new();
    bench.write("image.png", [b"\x89PNG\r\n\x1a\n".as_slice(), &[7; 1_492]].concat());
    let error = bench.fail("read", json!({"path": "image.png"})).await;
    assert_eq!(error, "\"image.png\" is not a text file: it is a PNG image (1.5 KB).");
    bench.write("data.bin", b"text\0more");
    assert!(bench.fail("read", json!({"path": "data.bin"})).await.contains("unknown type (9 bytes)"));
}

#[tokio::test]
async fn a_huge_file_is_read_up_to_its_limit() {
    let bench = Bench::new();
    let line = format!("{}\n", "x".repeat(999));
    bench.write("huge.txt", line.repeat(60_000));
    let output = bench.call("read", json!({"path": "huge.txt", "offset": 50_000, "limit": 5})).await;
    assert!(output.text.starts_with("50000\tx") && output.text.lines().count() == 3, "{}", output.text);
    assert!(output.text.contains("only its first 50.0 MB can be read"), "{}", output.text);
    let error = bench.fail("read", json!({"path": "huge.txt", "offset": 50_001})).await;
    assert!(error.contains("only the first 50.0 MB"), "{error}");
    // Exactly at the limit nothing is missing.
    bench.write("full.txt", line.repeat(50_000));
    let output = bench.call("read", json!({"path": "full.txt", "offset": 50_000})).await;
    assert_eq!(output.data.unwrap()["complete"], json!(true));
}
