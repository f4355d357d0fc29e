use tokio_util::sync::CancellationToken;
use url::Url;

use super::{MAX_TEXT, Readable, readable};

fn read(html: &str) -> Readable {
    let url = Url::parse("https://example.com/docs/page.html").unwrap();
    readable(html, &url, &CancellationToken::new()).unwrap()
}

#[test]
fn a_page_becomes_text_with_its_title_and_links() {
    let page = read(
        "<!doctype html><html><head><title> A &amp; B\n  page </title><style>p{x:'</p>'}</style>\
         <script>if (1 < 2) document.write('<p>no</p>')</script></head>\
         <body><h1>Head&shy;ing</h1><p>First  <b>bold</b>,\n <a href='../x?a=1&amp;b=2'>a link</a>.</p>\
         <ul><li>one<li>two<ol start=3><li>deep</ol></ul>\
         <table><tr><th>Name<th>Size</tr><tr><td>a</td><td>1</td></tr></table>\
         <pre>  let x = 1;\n\n  done</pre><img src=x alt='A cat'><hr>End<br>of&nbsp;page</body></html>",
    );
    assert_eq!(page.title.as_deref(), Some("A & B page"));
    assert_eq!(
        page.text,
        "# Heading\n\nFirst bold, [a link](https://example.com/x?a=1&b=2).\n\n- one\n- two\n  3. deep\n\n\
         Name | Size\na | 1\n\n  let x = 1;\n\n  done\n\n[image: A cat]\n\n---\n\nEnd\nof page"
    );
    assert!(!page.cut);
}

#[test]
fn links_that_say_nothing_are_only_text() {
    for href in ["#top", "", "javascript:alert(1)", "data:text/html,x", "http://[", &"x".repeat(600)] {
        assert_eq!(read(&format!("<a href='{href}'>text</a>")).text, "text", "{href}");
    }
    assert_eq!(read("<a href='/x'> <img></a>after").text, "after");
    assert_eq!(read("<a href='https://e.org/'>https://e.org/</a>").text, "https://e.org/");
    // A link that is never closed, and one inside of another.
    assert_eq!(
        read("<a href=/a>a <a href=/b>b").text,
        "[a](https://example.com/a) [b](https://example.com/b)"
    );
}

#[test]
fn the_base_of_links_is_the_first_that_is_said() {
    let page =
        read("<base href='https://cdn.example/d/'><base href='https://other.example/'><a href=x>x</a>");
    assert_eq!(page.text, "[x](https://cdn.example/d/x)");
}

#[test]
fn hidden_parts_and_invisible_characters_are_left_out() {
    let page = read(
        "a<noscript>no</noscript><svg><title>no</title><svg></svg>no</svg><template><p>no</template><svg/>\
         b<!-- no -->\u{200b}\u{202e}\u{1b}c\u{e0041}",
    );
    assert_eq!((page.text.as_str(), page.title), ("abc", None));
}

#[test]
fn broken_markup_is_read_as_far_as_it_goes() {
    assert_eq!(read("</ul></li></p><p>text</table></pre> more<").text, "text\n\nmore<");
    assert_eq!(read("1 < 2 & 3 &unknown; <p").text, "1 < 2 & 3 &unknown;");
    assert_eq!(read("").text, "");
}

#[test]
fn pages_made_to_exhaust_a_parser_are_read() {
    for part in [
        "<div>",
        "<b>",
        "<ul><li>",
        "<table><tr><td>",
        "<blockquote>x",
        "<a href=x><p>",
        "</div>",
        "<svg>",
        "\n",
    ] {
        read(&part.repeat(20_000));
        read(&format!("<pre>{}", part.repeat(2_000)));
    }
    let attributes = (0..50_000).map(|number| format!(" a{number}=x")).collect::<Vec<_>>().concat();
    assert_eq!(read(&format!("<p{attributes}>text")).text, "text");
}

#[test]
fn a_page_that_grows_is_cut() {
    let base = "x".repeat(400);
    let page = read(&format!("<base href='https://e.org/{base}/'>{}", "<a href=y>z</a> ".repeat(20_000)));
    assert!(page.cut && page.text.len() < MAX_TEXT + 1_000);
}

#[test]
fn reading_ends_when_nobody_waits() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let url = Url::parse("https://example.com/").unwrap();
    assert!(readable("<p>x", &url, &cancel).is_err());
}
