//! One request: fetch, status, problem document.

use std::cell::RefCell;

use js_sys::Promise;
use serde::de::DeserializeOwned;
use toolshelf_api::Problem;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, Headers, RequestInit, Response};

/// A request that was not answered with what it asked for.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// No answer came: no network, or no server.
    Offline,
    /// The person cancelled it.
    Cancelled,
    /// The server refused it, or answered what cannot be read.
    Refused(Box<Problem>),
}

impl Failure {
    /// What to tell the person.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::Offline => "The server cannot be reached. Check the connection, then try again.".to_owned(),
            Self::Cancelled => "Cancelled.".to_owned(),
            Self::Refused(problem) => problem.detail.clone(),
        }
    }

    /// What it says about one field, else what it says at all.
    pub(crate) fn beside(&self) -> String {
        match self {
            Self::Refused(problem) => {
                problem.errors.first().map_or_else(|| problem.detail.clone(), |error| error.message.clone())
            }
            Self::Offline | Self::Cancelled => self.sentence(),
        }
    }

    /// An answer that does not hold what it should.
    pub(super) fn unreadable(status: u16) -> Self {
        let detail =
            format!("The server answered {status}, which this page cannot read. Try again in a moment.");
        Self::Refused(Box::new(Problem { status, detail, ..Problem::default() }))
    }
}

/// The answer to a request.
pub(crate) type Reply<T> = Result<T, Failure>;

/// What a request is made of beside its address.
#[derive(Default)]
pub(crate) struct Parts<'a> {
    pub(crate) method: &'static str,
    pub(crate) body: Option<String>,
    pub(crate) csrf: Option<&'a str>,
    /// The revision that the write was decided on.
    pub(crate) revision: Option<u64>,
    pub(crate) abort: Option<&'a AbortSignal>,
}

/// Sends a request and reads the answer. A 401 leads to the sign-in page.
pub(crate) async fn send<T: DeserializeOwned>(path: &str, parts: Parts<'_>) -> Reply<T> {
    Ok(send_revised(path, parts).await?.0)
}

/// As [`send`], for an answer that has no body.
pub(crate) async fn send_empty(path: &str, parts: Parts<'_>) -> Reply<()> {
    exchange(path, parts).await.map(drop)
}

/// As [`send`], with the revision that the answer's `ETag` names.
pub(crate) async fn send_revised<T: DeserializeOwned>(
    path: &str,
    parts: Parts<'_>,
) -> Reply<(T, Option<u64>)> {
    let Answered { status, text, etag } = exchange(path, parts).await?;
    let value = serde_json::from_str(&text).map_err(|_| Failure::unreadable(status))?;
    // `"r12-…"`, or `W/"r12-…"` when something on the way compressed it.
    let digits = etag.trim_start_matches("W/").trim_matches('"').trim_start_matches('r');
    let digits = digits.split('-').next().unwrap_or_default();
    Ok((value, digits.parse().ok()))
}

struct Answered {
    status: u16,
    text: String,
    etag: String,
}

/// Where the password is confirmed.
pub(super) const CONFIRM: &str = "/me/confirm";

/// Asks the person for the password; the promise says whether it was confirmed.
type AskPassword = Box<dyn Fn() -> Promise>;

thread_local! {
    static ASK_PASSWORD: RefCell<Option<AskPassword>> = const { RefCell::new(None) };
}

/// Sets how the person is asked for the password when a request needs a fresh one.
pub(crate) fn ask_password_with(ask: impl Fn() -> Promise + 'static) {
    ASK_PASSWORD.with_borrow_mut(|slot| *slot = Some(Box::new(ask)));
}

/// Sends a request, and once more if it needs the password and the person confirms it.
///
/// The exchange does not depend on the type, so that it is compiled once.
async fn exchange(path: &str, parts: Parts<'_>) -> Reply<Answered> {
    let answer = attempt(path, &parts).await;
    let asked = match &answer {
        Err(Failure::Refused(problem)) if problem.code == "confirm_password" && path != CONFIRM => {
            ASK_PASSWORD.with_borrow(|ask| ask.as_ref().map(|ask| ask()))
        }
        _ => None,
    };
    let Some(asked) = asked else { return answer };
    match JsFuture::from(asked).await {
        Ok(confirmed) if confirmed.is_truthy() => attempt(path, &parts).await,
        _ => Err(Failure::Cancelled),
    }
}

async fn attempt(path: &str, parts: &Parts<'_>) -> Reply<Answered> {
    let window = web_sys::window().ok_or(Failure::Offline)?;
    let response = match request(parts) {
        Ok(init) => JsFuture::from(window.fetch_with_str_and_init(&format!("/api/v1{path}"), &init)).await,
        Err(error) => Err(error),
    };
    let failed =
        || if parts.abort.is_some_and(AbortSignal::aborted) { Failure::Cancelled } else { Failure::Offline };
    let response: Response = response.map_err(|_| failed())?.unchecked_into();
    let status = response.status();
    let text = match response.text() {
        Ok(text) => JsFuture::from(text).await.ok().and_then(|text| text.as_string()).ok_or_else(failed)?,
        Err(_) => String::new(),
    };
    if response.ok() {
        let etag = response.headers().get("etag").ok().flatten().unwrap_or_default();
        return Ok(Answered { status, text, etag });
    }
    if status == 401 {
        go_to_sign_in();
    }
    Err(match serde_json::from_str::<Problem>(&text) {
        Ok(problem) => Failure::Refused(Box::new(problem)),
        Err(_) => Failure::unreadable(status),
    })
}

fn request(parts: &Parts<'_>) -> Result<RequestInit, JsValue> {
    let headers = Headers::new()?;
    headers.set("accept", "application/json")?;
    if let Some(csrf) = parts.csrf {
        headers.set("x-csrf-token", csrf)?;
    }
    if let Some(revision) = parts.revision {
        headers.set("if-match", &format!("\"r{revision}\""))?;
    }
    let init = RequestInit::new();
    init.set_method(parts.method);
    if let Some(body) = &parts.body {
        headers.set("content-type", "application/json")?;
        init.set_body(&JsValue::from_str(body));
    }
    init.set_headers(&headers);
    init.set_signal(parts.abort);
    Ok(init)
}

/// Leaves for the sign-in page, which leads back here.
fn go_to_sign_in() {
    let Some(location) = web_sys::window().map(|window| window.location()) else { return };
    let here = location.pathname().unwrap_or_default() + &location.search().unwrap_or_default();
    let next: String = js_sys::encode_uri_component(&here).into();
    // If the browser refuses, the failed request's message stays on the page.
    let _ = location.assign(&format!("/login?next={next}"));
}
