//! Telling text from what is not.

/// How much of a file's beginning is looked at.
pub(super) const PREFIX: usize = 8192;

/// What kinds of file begin with which bytes.
const SIGNATURES: [(&[u8], &str); 15] = [
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x28\xb5\x2f\xfd", "Zstandard data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"BZh", "bzip2 data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"\x7fELF", "a program or library"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\xff\xfe", "UTF-16 text, which has to be converted to UTF-8 first"),
    (b"\xfe\xff", "UTF-16 text, which has to be converted to UTF-8 first"),
];

/// What a file that begins like this is, if it is not text. Text has no NUL byte.
pub(crate) fn binary(prefix: &[u8]) -> Option<&'static str> {
    let prefix = &prefix[..prefix.len().min(PREFIX)];
    let known = SIGNATURES.iter().find(|(signature, _)| prefix.starts_with(signature)).map(|(_, kind)| *kind);
    let riff = || match (prefix.starts_with(b"RIFF"), prefix.get(8..12)) {
        (true, Some(b"WEBP")) => Some("a WebP image"),
        (true, Some(b"WAVE")) => Some("WAV audio"),
        _ => None,
    };
    known.or_else(riff).or_else(|| prefix.contains(&0).then_some("binary data of an unknown type"))
}

#[cfg(test)]
mod tests {
    use super::binary;

    #[test]
    fn tells_text_from_the_rest() {
        for text in ["".as_bytes(), b"plain", "读".as_bytes(), b"\xe4 in Latin-1", b"RIFF", b"PK is text"] {
            assert_eq!(binary(text), None, "{text:?}");
        }
        for (bytes, kind) in [
            (&b"\x89PNG\r\n\x1a\nrest"[..], "PNG"),
            (b"%PDF-1.7", "PDF"),
            (b"RIFF\x10\x20\x30\x40WEBPVP8", "WebP"),
            (b"a\0b", "unknown"),
            (b"\xff\xfeh\0i\0", "UTF-16"),
        ] {
            assert!(binary(bytes).is_some_and(|found| found.contains(kind)), "{kind}");
        }
    }
}
