//! The built UI: style sheets, icons and the browser app, embedded in release builds.

use std::borrow::Cow;
use std::collections::HashMap;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

use crate::state::AppState;

/// What `cargo xtask ui` made. A debug build reads it from disk at run time, so the server builds before the UI
/// exists, and a changed style sheet needs no new server.
#[derive(RustEmbed)]
#[folder = "../../target/ui"]
#[allow_missing = true]
struct Built;

/// Finds assets by their logical name.
pub(crate) struct Assets {
    hashed: HashMap<String, String>,
}

impl Assets {
    /// Reads the manifest of the build; without one, pages work and look plain.
    pub(crate) fn load() -> Self {
        let hashed = Built::get("manifest.json")
            .and_then(|file| serde_json::from_slice(&file.data).ok())
            .unwrap_or_else(|| {
                tracing::warn!("the UI was not built: run `cargo xtask serve`, which builds it");
                HashMap::new()
            });
        Self { hashed }
    }

    /// The URL of an asset, such as `css/app.css`.
    pub(crate) fn url(&self, name: &str) -> String {
        format!("/assets/{}", self.hashed.get(name).map_or(name, String::as_str))
    }
}

/// Serves one asset, compressed beforehand, for ever: its name changes with its content.
pub(crate) async fn serve(
    State(state): State<AppState>,
    Path(path): Path<String>,
    headers: HeaderMap,
) -> Response {
    let known = state.assets.hashed.values().any(|name| *name == path);
    if !known {
        return StatusCode::NOT_FOUND.into_response();
    }
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or("");
    let accepts = |encoding: &str| {
        accepted.split(',').any(|part| part.split(';').next().is_some_and(|name| name.trim() == encoding))
    };
    let compressed = [("br", ".br"), ("gzip", ".gz")]
        .into_iter()
        .filter(|(encoding, _)| accepts(encoding))
        .find_map(|(encoding, suffix)| Some((encoding, Built::get(&format!("{path}{suffix}"))?)));
    let (encoding, file) = match compressed {
        Some((encoding, file)) => (Some(encoding), file),
        None => match Built::get(&path) {
            Some(file) => (None, file),
            None => return StatusCode::NOT_FOUND.into_response(),
        },
    };
    let body = match file.data {
        Cow::Borrowed(bytes) => axum::body::Body::from(bytes),
        Cow::Owned(bytes) => axum::body::Body::from(bytes),
    };
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type(&path)));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(encoding) = encoding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    response
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Built;

    /// A debug build serves a UI that was built after it, in a fresh clone too. (Compiled without the folder,
    /// `rust-embed` found no file of it at run time.)
    #[test]
    #[cfg(debug_assertions)]
    fn a_file_that_comes_after_the_build_is_found() {
        let name = format!("probe-{}.txt", std::process::id());
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/ui").join(&name);
        std::fs::write(&path, "here").unwrap();
        let found = Built::get(&name);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(found.map(|file| file.data.into_owned()), Some(b"here".to_vec()));
    }
}
