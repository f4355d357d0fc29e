//! Measuring a page in headless Chromium, over the few commands of its driver that this takes.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};
use ureq::Agent;

use crate::command::{self, KillOnDrop};

/// Visits after the first one.
const VISITS: usize = 5;
/// How long one command to the browser may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// Waits in the page until the frontend has marked its first paint, and answers the milliseconds since the visit
/// began, or nothing after ten seconds.
const WAIT_FOR_PAINT: &str = "
    const answer = arguments[arguments.length - 1];
    const look = () => {
        const mark = performance.getEntriesByName('shelf-painted')[0];
        const row = document.querySelector('[data-testid=tool-row]');
        if (mark && row) answer(mark.startTime);
        else if (performance.now() > 10000) answer(null);
        else setTimeout(look, 20);
    };
    look();";

/// A session cookie of the server.
pub(super) struct Session {
    name: String,
    value: String,
}

/// Milliseconds from the start of a visit to its first painted rows.
pub(super) struct Painted {
    /// In a browser that has nothing cached.
    pub(super) first: f64,
    /// In the visits after that.
    pub(super) later: Vec<f64>,
}

/// Makes a profile of every tool, takes tools out and puts them in again one by one, and answers the milliseconds of each
/// edit as a page waits for it. It runs where the app does not, which would read the profiles again at each notice and
/// so get in its own way.
const EDIT: &str = "
    const answer = arguments[arguments.length - 1];
    const csrf = document.querySelector('[name=csrf_token]').value;
    const send = (path, body) => fetch('/api/v1' + path, {method: 'POST', body: JSON.stringify(body),
        headers: {'content-type': 'application/json', 'x-csrf-token': csrf}}).then((response) => response.json());
    (async () => {
        const {tools} = await send('/profiles', {name: 'everything'});
        const times = [];
        for (let round = 0; round < 40; round++) {
            const edit = round % 2 ? {add: [tools[round - 1]]} : {remove: [tools[round]]};
            const start = performance.now();
            await send('/profiles/everything/tools', edit);
            times.push(performance.now() - start);
        }
        answer(times);
    })().catch(() => answer(null));";

/// Types into the filter letter by letter, and answers for each the milliseconds until the page has worked it in.
const FILTER: &str = "
    const answer = arguments[arguments.length - 1];
    const field = document.querySelector('#filter');
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
    const settled = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
    (async () => {
        const times = [];
        for (const word of ['search', 'delete issue', 'service 12']) {
            for (let length = 1; length <= word.length; length++) {
                const start = performance.now();
                set.call(field, word.slice(0, length));
                field.dispatchEvent(new Event('input', {bubbles: true}));
                await null;
                times.push(performance.now() - start);
                await settled();
            }
            set.call(field, '');
            field.dispatchEvent(new Event('input', {bubbles: true}));
            await settled();
        }
        answer(times);
    })().catch(() => answer(null));";

/// What a catalog of many tools costs.
pub(super) struct Many {
    /// Milliseconds from the start of each visit of `/functions` to its first painted rows.
    pub(super) painted: Vec<f64>,
    /// Milliseconds of each edit of a profile of all tools.
    pub(super) edits: Vec<f64>,
    /// Milliseconds in which the page works in each letter of a filter.
    pub(super) letters: Vec<f64>,
}

/// Creates the first account of a new server, and answers its session.
pub(super) fn create_account(url: &str, token: &str) -> Result<Session> {
    let body = json!({"token": token, "username": "bench", "password": "a bench of oak, well measured"});
    let answer = agent().post(format!("{url}/api/v1/setup")).header("Origin", url).send_json(body);
    let mut answer = answer.context("the set-up request found no server")?;
    if answer.status() != 201 {
        let said = answer.body_mut().read_to_string().unwrap_or_default();
        bail!("the set-up request was answered with {}: {said}", answer.status());
    }
    let cookies = answer.headers().get_all("set-cookie").iter();
    let session = cookies.filter_map(|cookie| cookie.to_str().ok()).find_map(session_cookie);
    session.context("the set-up request was answered without a session cookie")
}

fn session_cookie(header: &str) -> Option<Session> {
    let (name, value) = header.split(';').next()?.split_once('=')?;
    Some(Session { name: name.trim().to_owned(), value: value.trim().to_owned() })
}

/// Visits `/functions` several times with a session, and measures each visit.
pub(super) fn measure_painted(url: &str, session: &Session) -> Result<Painted> {
    let browser = Browser::start()?;
    // A cookie can be set only for the site that is open.
    browser.post("url", &json!({"url": format!("{url}/healthz")}))?;
    let cookie = json!({"cookie": {"name": session.name, "value": session.value, "path": "/"}});
    browser.post("cookie", &cookie)?;
    let page = format!("{url}/functions");
    let first = browser.visit(&page)?;
    let later = (0..VISITS).map(|_| browser.visit(&page)).collect::<Result<_>>()?;
    Ok(Painted { first, later })
}

/// Measures `/functions` with whatever tools the server has.
pub(super) fn measure_many(url: &str, session: &Session) -> Result<Many> {
    let browser = Browser::start()?;
    browser.post("url", &json!({"url": format!("{url}/healthz")}))?;
    let cookie = json!({"cookie": {"name": session.name, "value": session.value, "path": "/"}});
    browser.post("cookie", &cookie)?;
    let page = format!("{url}/functions");
    browser.visit(&page)?;
    let painted = (0..VISITS).map(|_| browser.visit(&page)).collect::<Result<_>>()?;
    let letters = browser.times(FILTER)?;
    browser.post("url", &json!({"url": format!("{url}/keys")}))?;
    let edits = browser.times(EDIT)?;
    Ok(Many { painted, edits, letters })
}

/// A headless browser that closes with its owner.
struct Browser {
    agent: Agent,
    session: String,
    // Ends after the session, which needs it to close the browser.
    _driver: KillOnDrop,
}

impl Browser {
    fn start() -> Result<Self> {
        if command::find_program("chromedriver").is_none() {
            bail!("chromedriver is not installed: `cargo xtask test --stage tools` installs it");
        }
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut driver = KillOnDrop(command.spawn().context("chromedriver could not be started")?);
        let output = driver.0.stdout.take().context("chromedriver's output was not captured")?;
        let (sender, ports) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some(port) = driver_port(&line) {
                    let _ = sender.send(port);
                }
            }
        });
        let port =
            ports.recv_timeout(PATIENCE).context("chromedriver did not say on which port it listens")?;
        let agent = agent();
        let capabilities = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "timeouts": {"script": 15000, "pageLoad": 30000},
            "goog:chromeOptions": {"args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,800",
            ]},
        }}});
        let driver_url = format!("http://127.0.0.1:{port}/session");
        let opened = post(&agent, &driver_url, &capabilities).context("Chromium could not be started")?;
        let id = opened["sessionId"].as_str().context("chromedriver opened no session")?;
        Ok(Self { session: format!("{driver_url}/{id}"), agent, _driver: driver })
    }

    fn post(&self, command: &str, body: &Value) -> Result<Value> {
        post(&self.agent, &format!("{}/{command}", self.session), body)
    }

    /// Runs a script that answers milliseconds.
    fn times(&self, script: &str) -> Result<Vec<f64>> {
        let times = self.post("execute/async", &json!({"script": script, "args": []}))?;
        let times = times.as_array().context("the page could not be measured")?;
        Ok(times.iter().filter_map(Value::as_f64).collect())
    }

    fn visit(&self, page: &str) -> Result<f64> {
        self.post("url", &json!({"url": page}))?;
        let mark = self.post("execute/async", &json!({"script": WAIT_FOR_PAINT, "args": []}))?;
        mark.as_f64().with_context(|| {
            format!("{page} painted no `[data-testid=tool-row]` and set no mark `shelf-painted` within 10 s")
        })
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Closes Chromium; when this fails there is nobody left to tell.
        let _ = self.agent.delete(&self.session).call();
    }
}

/// Sends a command to the driver and answers its `value`.
fn post(agent: &Agent, url: &str, body: &Value) -> Result<Value> {
    let mut answer = agent.post(url).send_json(body).context("chromedriver does not answer")?;
    let mut answered: Value = answer.body_mut().read_json().context("chromedriver answered no JSON")?;
    let value = answered["value"].take();
    if let Some(message) = value["error"].as_str() {
        bail!("the browser refused a command: {message}: {}", value["message"].as_str().unwrap_or_default());
    }
    Ok(value)
}

fn agent() -> Agent {
    // An answer that reports an error is read for its reason, so it is not turned into an error by its status.
    Agent::config_builder()
        .http_status_as_error(false)
        .proxy(None)
        .timeout_global(Some(PATIENCE))
        .build()
        .into()
}

fn driver_port(line: &str) -> Option<u16> {
    line.split_once("started successfully on port ")?.1.trim_end_matches('.').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drivers_port_is_read_from_its_greeting() {
        assert_eq!(driver_port("ChromeDriver was started successfully on port 40123."), Some(40123));
        assert_eq!(driver_port("Only local connections are allowed."), None);
    }

    #[test]
    fn a_session_cookie_is_its_first_pair() {
        let session = session_cookie("toolshelf_session=abc.def=; Path=/; HttpOnly").expect("it is a cookie");
        assert_eq!((session.name.as_str(), session.value.as_str()), ("toolshelf_session", "abc.def="));
    }
}
