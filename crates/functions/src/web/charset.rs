//! Bytes of a page to text.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// How much of a page is searched for the name of its encoding, as in browsers.
const PRESCAN: usize = 1024;

/// Decodes a page: as its byte order mark says, else its content type, else the page itself, else as UTF-8. What
/// is not valid UTF-8 and says nothing is read as Windows-1252, as in browsers.
pub(super) fn decode(body: &[u8], content_type: &str) -> String {
    let declared = declared_in(content_type).or_else(|| declared_in(&prescan(body)));
    let fallback = if std::str::from_utf8(body).is_ok() { UTF_8 } else { WINDOWS_1252 };
    declared.unwrap_or(fallback).decode(body).0.into_owned()
}

/// Only markup names its encoding inside.
fn prescan(body: &[u8]) -> String {
    let start = String::from_utf8_lossy(&body[..body.len().min(PRESCAN)]);
    if start.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
        start.into_owned()
    } else {
        String::new()
    }
}

fn declared_in(text: &str) -> Option<&'static Encoding> {
    let lower = text.to_ascii_lowercase();
    let after = |key: &str| {
        let rest = lower.get(lower.find(key)? + key.len()..)?.trim_start().strip_prefix('=')?;
        let label = rest.trim_start().trim_start_matches(['"', '\'']);
        let end = label.find(|c: char| c.is_whitespace() || "\"';/>?".contains(c)).unwrap_or(label.len());
        Encoding::for_label(label.get(..end)?.as_bytes())
    };
    after("charset")
        .or_else(|| if lower.trim_start().starts_with("<?xml") { after("encoding") } else { None })
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn the_encoding_is_found_where_it_is_said() {
        for (body, content_type, text) in [
            (&b"\xe4"[..], "text/html; charset=iso-8859-1", "ä"),
            (b"\xe4", "text/html; Charset=\"ISO-8859-1\"", "ä"),
            ("ä".as_bytes(), "text/html", "ä"),
            (b"\xe4", "text/plain", "ä"),
            (b"<meta charset='windows-1251'>\xe4", "text/html", "<meta charset='windows-1251'>д"),
            (b"<?xml version='1.0' encoding='koi8-r'?>\xe4", "", "<?xml version='1.0' encoding='koi8-r'?>Д"),
            (b"\xff\xfeh\0i\0", "text/plain; charset=utf-8", "hi"),
            (b"charset=koi8-r \xc3\xa4", "text/plain", "charset=koi8-r ä"),
            (b"x", "text/html; charset=nonsense", "x"),
        ] {
            assert_eq!(decode(body, content_type), text, "{content_type}");
        }
    }
}
