//! Compressing files ahead of time, so that the server only picks a form.

use anyhow::{Context, Result};
use brotli::enc::BrotliEncoderParams;
use flate2::{Compression, write::GzEncoder};
use std::{ffi::OsString, fs, io::Write, path::Path};

/// Brotli's best quality, slow: for what is cached.
pub(crate) const SMALLEST: i32 = 11;
/// Nearly as small and many times faster: for what is compressed on every build.
pub(crate) const QUICK: i32 = 9;

/// Extensions of files that shrink; images and fonts are compressed already.
const WORTHWHILE: [&str; 11] =
    ["css", "html", "js", "json", "map", "mjs", "svg", "txt", "wasm", "webmanifest", "xml"];

/// Whether compressing a file makes it smaller, judged by its name.
pub(crate) fn is_worthwhile(path: &Path) -> bool {
    path.extension().is_some_and(|extension| WORTHWHILE.iter().any(|known| extension == *known))
}

/// Writes `FILE.br` and `FILE.gz` beside a file.
pub(crate) fn write_beside(path: &Path, brotli_quality: i32) -> Result<()> {
    let content = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    fs::write(with_suffix(path, ".br"), brotli(&content, brotli_quality)?)?;
    fs::write(with_suffix(path, ".gz"), gzip(&content)?)?;
    Ok(())
}

/// Copies the compressed forms beside `original` so that they lie beside `copy`.
pub(crate) fn copy_beside(original: &Path, copy: &Path) -> Result<()> {
    for suffix in [".br", ".gz"] {
        let from = with_suffix(original, suffix);
        fs::copy(&from, with_suffix(copy, suffix))
            .with_context(|| format!("{} cannot be copied", from.display()))?;
    }
    Ok(())
}

fn brotli(content: &[u8], quality: i32) -> Result<Vec<u8>> {
    let parameters = BrotliEncoderParams {
        quality,
        lgwin: 22,
        size_hint: content.len(),
        ..BrotliEncoderParams::default()
    };
    let mut compressed = Vec::new();
    brotli::BrotliCompress(&mut &content[..], &mut compressed, &parameters)?;
    Ok(compressed)
}

fn gzip(content: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    Ok(encoder.finish()?)
}

fn with_suffix(path: &Path, suffix: &str) -> OsString {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use std::io::Read;

    #[test]
    fn both_forms_hold_the_content() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.css");
        let content = "body { color: red } ".repeat(100);
        fs::write(&path, &content).expect("it is writable");
        write_beside(&path, QUICK).expect("it compresses");

        let mut from_brotli = Vec::new();
        let br = fs::read(folder.path().join("a.css.br")).expect("it was written");
        brotli::BrotliDecompress(&mut &br[..], &mut from_brotli).expect("it is brotli");
        assert_eq!(from_brotli, content.as_bytes());

        let mut from_gzip = String::new();
        let gz = fs::read(folder.path().join("a.css.gz")).expect("it was written");
        GzDecoder::new(&gz[..]).read_to_string(&mut from_gzip).expect("it is gzip");
        assert_eq!(from_gzip, content);
        assert!(br.len() < 200 && gz.len() < 200);
    }

    #[test]
    fn fonts_and_images_are_left_alone() {
        assert!(is_worthwhile(Path::new("css/app.css")));
        assert!(is_worthwhile(Path::new("app_bg.wasm")));
        assert!(!is_worthwhile(Path::new("fonts/inter.woff2")));
        assert!(!is_worthwhile(Path::new("favicon.png")));
    }
}
