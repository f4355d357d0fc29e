//! Sends requests, with exactly the headers and bytes that a test says.

use std::future::IntoFuture;
use std::net::SocketAddr;
use std::pin::Pin;

use http::{HeaderMap, HeaderName, HeaderValue, Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::answer::Answer;
use crate::events::EventStream;

/// Somebody who sends requests: an address, and headers that each request carries.
#[derive(Clone, Debug)]
pub struct Client {
    address: SocketAddr,
    headers: HeaderMap,
}

impl Client {
    /// Nobody known, whose requests come from a page of the server.
    pub fn new(address: SocketAddr) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert("host", value(&address.to_string()));
        headers.insert("origin", value(&format!("http://{address}")));
        Self { address, headers }
    }

    /// The same, with another header on each request.
    #[must_use]
    pub fn with(mut self, name: &'static str, text: &str) -> Self {
        self.headers.insert(name, value(text));
        self
    }

    /// The same, without a header.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.headers.remove(name);
        self
    }

    /// Where the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A request that is not sent yet.
    pub fn ask(&self, method: &str, path: &str) -> Ask {
        Ask {
            address: self.address,
            method: method.parse().expect("an HTTP method"),
            path: path.to_owned(),
            headers: self.headers.clone(),
            body: Bytes::new(),
        }
    }

    /// Reads.
    pub fn get(&self, path: &str) -> Ask {
        self.ask("GET", path)
    }

    /// Sends JSON with POST.
    #[expect(clippy::needless_pass_by_value, reason = "a test writes json!(…) here")]
    pub fn post(&self, path: &str, body: Value) -> Ask {
        self.ask("POST", path).json(&body)
    }

    /// Sends JSON with PUT.
    #[expect(clippy::needless_pass_by_value, reason = "a test writes json!(…) here")]
    pub fn put(&self, path: &str, body: Value) -> Ask {
        self.ask("PUT", path).json(&body)
    }

    /// Sends JSON with PATCH.
    #[expect(clippy::needless_pass_by_value, reason = "a test writes json!(…) here")]
    pub fn patch(&self, path: &str, body: Value) -> Ask {
        self.ask("PATCH", path).json(&body)
    }

    /// Removes.
    pub fn delete(&self, path: &str) -> Ask {
        self.ask("DELETE", path)
    }

    /// Sends a form, as a browser without script does.
    pub fn form(&self, path: &str, fields: &[(&str, &str)]) -> Ask {
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.ask("POST", path)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("accept", "text/html,application/xhtml+xml,*/*;q=0.8")
            .body(body)
    }

    /// Reads a page, as a browser does.
    pub fn page(&self, path: &str) -> Ask {
        self.get(path).header("accept", "text/html,application/xhtml+xml,*/*;q=0.8")
    }

    /// Calls a tool outside of a conversation.
    #[expect(clippy::needless_pass_by_value, reason = "a test writes json!(…) here")]
    pub fn call(&self, tool: &str, arguments: Value) -> Ask {
        self.post(&format!("/api/v1/tools/{tool}/call"), serde_json::json!({ "arguments": arguments }))
    }

    /// Disables a tool for everyone.
    pub fn disable(&self, tool: &str, reason: &str) -> Ask {
        self.put(&format!("/api/v1/tools/{tool}/disabled"), serde_json::json!({ "reason": reason }))
    }

    /// Lifts the global disable of a tool.
    pub fn enable(&self, tool: &str) -> Ask {
        self.delete(&format!("/api/v1/tools/{tool}/disabled"))
    }

    /// Listens to changes.
    pub async fn listen(&self) -> EventStream {
        self.get("/api/v1/events").listen().await
    }
}

/// A request that is not sent yet. Awaiting it sends it.
#[derive(Clone, Debug)]
pub struct Ask {
    address: SocketAddr,
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Bytes,
}

impl Ask {
    /// Sets a header in place of any of that name.
    #[must_use]
    pub fn header(mut self, name: &str, text: &str) -> Self {
        self.headers.insert(header_name(name), value(text));
        self
    }

    /// Adds a header beside those of that name.
    #[must_use]
    pub fn and_header(mut self, name: &str, text: &str) -> Self {
        self.headers.append(header_name(name), value(text));
        self
    }

    /// Removes all headers of a name.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.headers.remove(name);
        self
    }

    /// Sets the revision that a write was made on.
    #[must_use]
    pub fn if_match(self, revision: u64) -> Self {
        self.header("if-match", &format!("\"r{revision}\""))
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets a JSON body with its type.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json").body(body.to_string())
    }

    /// Sends the request over a connection of its own and listens to the events of the answer.
    pub async fn listen(self) -> EventStream {
        let response = self.send().await;
        assert_eq!(response.status().as_u16(), 200, "the server refuses to send events");
        EventStream::new(response.into_body())
    }

    async fn send(self) -> http::Response<Incoming> {
        let what = format!("{} {}", self.method, self.path);
        let fail = |error: &dyn std::error::Error| -> ! { panic!("{what} was not answered: {error:?}") };
        let stream = TcpStream::connect(self.address).await.unwrap_or_else(|error| fail(&error));
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.unwrap_or_else(|error| fail(&error));
        // It ends with the response's body.
        tokio::spawn(connection);
        let mut request = Request::new(Full::new(self.body));
        *request.method_mut() = self.method;
        *request.uri_mut() = self.path.parse().expect("a path");
        *request.headers_mut() = self.headers;
        sender.send_request(request).await.unwrap_or_else(|error| fail(&error))
    }
}

impl IntoFuture for Ask {
    type Output = Answer;
    type IntoFuture = Pin<Box<dyn Future<Output = Answer> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let what = format!("{} {}", self.method, self.path);
            let answered = async {
                let (parts, body) = self.send().await.into_parts();
                // A stream of events has no end to wait for.
                let streams =
                    parts.headers.get("content-type").is_some_and(|kind| kind == "text/event-stream");
                let body = if streams {
                    Bytes::new()
                } else {
                    body.collect().await.expect("a whole body").to_bytes()
                };
                Answer::new(what.clone(), parts.status, parts.headers, body)
            };
            crate::within(&what, answered).await
        })
    }
}

fn header_name(name: &str) -> HeaderName {
    name.parse().expect("the name of a header")
}

fn value(text: &str) -> HeaderValue {
    HeaderValue::from_bytes(text.as_bytes()).expect("the value of a header")
}
