//! Answers, and what tests ask about them.

use http::{HeaderMap, StatusCode};
use hyper::body::Bytes;
use serde_json::Value;

/// An answer that was read to its end.
#[derive(Clone, Debug)]
pub struct Answer {
    asked: String,
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Answer {
    pub(crate) fn new(asked: String, status: StatusCode, headers: HeaderMap, body: Bytes) -> Self {
        Self { asked, status, headers, body }
    }

    /// The status.
    pub fn status(&self) -> u16 {
        self.status.as_u16()
    }

    /// All headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The value of a header; empty if it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("a readable header"))
    }

    /// The body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("a text")
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        match serde_json::from_slice(&self.body) {
            Ok(value) => value,
            Err(error) => panic!("{} is not answered with JSON: {error}\n{}", self.asked, self.shown()),
        }
    }

    /// Fails unless the status is this one.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status(), status, "{}\n{}", self.asked, self.shown());
        self
    }

    /// Fails unless the answer is a problem document with this status and code, and returns it.
    #[track_caller]
    pub fn problem(&self, status: u16, code: &str) -> Problem {
        assert_eq!(self.status(), status, "{}\n{}", self.asked, self.shown());
        assert_eq!(
            self.header("content-type"),
            "application/problem+json",
            "{}\n{}",
            self.asked,
            self.shown()
        );
        let problem = self.json();
        assert_eq!(problem["code"], code, "{}\n{}", self.asked, self.shown());
        assert_eq!(problem["status"], status, "{}", self.asked);
        assert_eq!(problem["type"], format!("urn:toolshelf:problem:{code}"), "{}", self.asked);
        assert_eq!(problem["title"], self.status.canonical_reason().unwrap_or("Error"), "{}", self.asked);
        assert!(
            problem["detail"].as_str().is_some_and(|detail| !detail.is_empty()),
            "{}: {problem}",
            self.asked
        );
        assert_eq!(problem["request_id"].as_str(), Some(self.header("x-request-id")), "{}", self.asked);
        assert!(!self.header("x-request-id").is_empty(), "{}", self.asked);
        Problem(problem)
    }

    /// The token of the session that the answer opens; empty if it opens none.
    pub fn session_token(&self) -> String {
        let cookie = self.header("set-cookie");
        cookie
            .split(';')
            .next()
            .and_then(|pair| pair.split_once('='))
            .map_or(String::new(), |(_, token)| token.to_owned())
    }

    /// The whole answer as text, for messages and for searching it.
    pub fn shown(&self) -> String {
        let mut text = format!("{}\n", self.status);
        for (name, value) in &self.headers {
            let value = String::from_utf8_lossy(value.as_bytes());
            text.extend([name.as_str(), ": ", &value, "\n"]);
        }
        text.push('\n');
        text.push_str(&String::from_utf8_lossy(&self.body));
        text
    }
}

/// A problem document.
#[derive(Clone, Debug)]
pub struct Problem(Value);

impl Problem {
    /// Fails unless exactly these fields are wrong, in any order.
    #[track_caller]
    pub fn pointers(self, expected: &[&str]) -> Self {
        let errors = self.0["errors"].as_array().cloned().unwrap_or_default();
        let mut pointers: Vec<&str> = errors.iter().filter_map(|error| error["pointer"].as_str()).collect();
        let mut expected = expected.to_vec();
        pointers.sort_unstable();
        expected.sort_unstable();
        assert_eq!(pointers, expected, "{}", self.0);
        assert!(
            errors.iter().all(|error| error["message"].as_str().is_some_and(|message| !message.is_empty())),
            "{}",
            self.0
        );
        self
    }

    /// Fails unless exactly these names are suggested.
    #[track_caller]
    pub fn suggests(self, expected: &[&str]) -> Self {
        assert_eq!(self.0["suggestions"], serde_json::json!(expected), "{}", self.0);
        self
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::ops::Deref for Problem {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}
