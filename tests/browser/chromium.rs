//! Drives a headless Chromium through its driver.

use std::process::Stdio;
use std::time::{Duration, Instant};

use fantoccini::error::CmdError;
use fantoccini::wd::{Capabilities, TimeoutConfiguration};
use fantoccini::{Client, ClientBuilder, Locator};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use toolshelf_tests::{ADMIN, PASSWORD, TestApp, within};

/// How often a driver is started that ends before it listens.
const ATTEMPTS: usize = 5;

/// Starts a driver on a free port. It takes a port of one kind of address and asks for the same one of the other kind,
/// which something else may have: then it ends at once, and another start takes another port.
async fn start_driver() -> (Child, String) {
    for _ in 0..ATTEMPTS {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            // Of its own, so that Chromium can be ended with it.
            .process_group(0)
            .spawn()
            .expect("chromedriver is installed: `cargo xtask test --stage tools` installs it");
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = within("the driver's start", async {
            while let Some(line) = lines.next_line().await.unwrap() {
                if let Some((_, port)) = line.split_once("successfully on port ") {
                    return Some(port.trim_end_matches('.').to_owned());
                }
            }
            None
        });
        if let Some(port) = port.await {
            return (driver, port);
        }
    }
    panic!("chromedriver ended {ATTEMPTS} times before it listened");
}

/// A Chromium of its own, with an empty profile.
pub(crate) struct Chromium {
    pub(crate) client: Client,
    driver: Child,
}

/// A test that fails closes no session, so the driver is ended here and Chromium with it.
impl Drop for Chromium {
    fn drop(&mut self) {
        let group = self.driver.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        if let Some(group) = group {
            // One that is gone already is no failure.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Chromium {
    /// Starts the driver on a free port, and Chromium through it.
    pub(crate) async fn start() -> Self {
        let (driver, port) = start_driver().await;
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1280,900",
        ];
        let mut capabilities = Capabilities::new();
        capabilities.insert("goog:chromeOptions".to_owned(), json!({"args": arguments}));
        capabilities.insert("goog:loggingPrefs".to_owned(), json!({"browser": "ALL"}));
        let client = ClientBuilder::new(hyper_util::client::legacy::connect::HttpConnector::new())
            .capabilities(capabilities)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("a session of Chromium");
        let script = Some(Duration::from_mins(1));
        client.update_timeouts(TimeoutConfiguration::new(script, None, None)).await.unwrap();
        Self { client, driver }
    }

    /// Opens an address of the server.
    pub(crate) async fn open(&self, app: &TestApp, path: &str) {
        self.client.goto(&format!("http://{}{path}", app.address)).await.unwrap();
    }

    /// Sets up the installation as a person does, by the link that the server printed, and waits for the shelf.
    pub(crate) async fn set_up(&self, app: &TestApp) {
        self.open(app, &format!("/setup?token={}", app.setup_token.as_deref().unwrap())).await;
        self.fill("[name=username]", ADMIN).await;
        self.fill("[name=password]", PASSWORD).await;
        self.fill("[name=password_again]", PASSWORD).await;
        self.click("form button").await;
        self.wait_for("[data-testid=tool-row]").await;
    }

    /// Signs in with the form.
    pub(crate) async fn log_in(&self, app: &TestApp, username: &str) {
        self.open(app, "/login").await;
        self.fill("[name=username]", username).await;
        self.fill("[name=password]", PASSWORD).await;
        self.click("form button").await;
        self.wait_for("[data-testid=tool-row]").await;
    }

    /// Waits until something is there.
    pub(crate) async fn wait_for(&self, css: &str) {
        self.until(&format!("!!document.querySelector({})", json!(css))).await;
    }

    /// Waits until a JavaScript expression is true. It waits in the page, in short looks: one that the page leaves in
    /// the middle of ends with an error of the driver, and the next page is looked at instead.
    pub(crate) async fn until(&self, expression: &str) {
        let script = format!(
            "const done = arguments[arguments.length - 1]; const end = performance.now() + 500;
             const look = () => {{ let ok = false; try {{ ok = !!({expression}); }} catch {{}}
               if (ok || performance.now() > end) done(ok); else setTimeout(look, 16); }}; look();"
        );
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(20) {
            match self.client.execute_async(&script, vec![]).await {
                Ok(Value::Bool(true)) => return,
                Ok(_) => {}
                Err(CmdError::Standard(error))
                    if matches!(
                        error.error().as_str(),
                        "script timeout" | "javascript error" | "unknown error"
                    ) => {}
                Err(other) => panic!("{expression}: {other}"),
            }
        }
        panic!("never true: {expression}\non {}", self.text("body").await);
    }

    /// The value of a JavaScript expression.
    pub(crate) async fn value(&self, expression: &str) -> Value {
        self.client.execute(&format!("return {expression};"), vec![]).await.unwrap()
    }

    /// The visible text of an element.
    pub(crate) async fn text(&self, css: &str) -> String {
        self.client.find(Locator::Css(css)).await.unwrap().text().await.unwrap()
    }

    pub(crate) async fn click(&self, css: &str) {
        self.client.find(Locator::Css(css)).await.unwrap().click().await.unwrap();
    }

    /// Clicks the button with this text, anywhere inside `css`.
    pub(crate) async fn press(&self, css: &str, label: &str) {
        let mark = format!(
            "[...document.querySelectorAll({})].find((button) => button.textContent.trim() === {})",
            json!(format!("{css} button")),
            json!(label)
        );
        self.until(&format!("!!{mark}")).await;
        let script = format!("return {mark};");
        let element = self.client.execute(&script, vec![]).await.unwrap();
        let element = fantoccini::elements::Element::from_element_id(
            self.client.clone(),
            element.as_object().unwrap().values().next().unwrap().as_str().unwrap().to_owned().into(),
        );
        element.click().await.unwrap();
    }

    /// Types a text into a field.
    pub(crate) async fn fill(&self, css: &str, text: &str) {
        self.wait_for(css).await;
        self.client.find(Locator::Css(css)).await.unwrap().send_keys(text).await.unwrap();
    }

    /// Types a text in place of what a field holds.
    pub(crate) async fn replace(&self, css: &str, text: &str) {
        // Ctrl A marks all of it, and Delete or the text takes its place.
        let keys = if text.is_empty() {
            "\u{E009}a\u{E000}\u{E017}".to_owned()
        } else {
            format!("\u{E009}a\u{E000}{text}")
        };
        self.fill(css, &keys).await;
    }

    /// Moves the focus, as Tab does after many steps.
    pub(crate) async fn focus(&self, css: &str) {
        self.wait_for(css).await;
        self.client
            .execute(&format!("document.querySelector({}).focus()", json!(css)), vec![])
            .await
            .unwrap();
    }

    /// Presses keys wherever the focus is.
    pub(crate) async fn keys(&self, keys: &str) {
        self.client.active_element().await.unwrap().send_keys(keys).await.unwrap();
    }

    /// Sends a command of the `DevTools` protocol.
    async fn devtools(&self, command: &str, parameters: Value) {
        self.client
            .issue_cmd(DevTools { command: command.to_owned(), parameters })
            .await
            .unwrap_or_else(|error| panic!("{command}: {error}"));
    }

    /// Shows pages in a window of this size.
    pub(crate) async fn resize(&self, width: u32, height: u32) {
        let parameters =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.devtools("Emulation.setDeviceMetricsOverride", parameters).await;
    }

    /// Prefers a theme, as the system does.
    pub(crate) async fn prefer(&self, theme: &str) {
        let features = json!([
            {"name": "prefers-color-scheme", "value": theme},
            // Motion would let a check see colours on their way from one theme to the other.
            {"name": "prefers-reduced-motion", "value": "reduce"}
        ]);
        self.devtools("Emulation.setEmulatedMedia", json!({"features": features})).await;
    }

    /// What the pages complained about in the console since the last look, by level `SEVERE`.
    pub(crate) async fn complaints(&self) -> Vec<String> {
        let log = self.client.issue_cmd(BrowserLog).await.unwrap();
        let entries = log.as_array().cloned().unwrap_or_default();
        entries
            .iter()
            .filter(|entry| entry["level"] == "SEVERE")
            .map(|entry| entry["message"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// Ends the session, which ends Chromium.
    pub(crate) async fn close(self) {
        self.client.clone().close().await.unwrap();
    }
}

#[derive(Debug)]
struct DevTools {
    command: String,
    parameters: Value,
}

impl fantoccini::wd::WebDriverCompatibleCommand for DevTools {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/goog/cdp/execute", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(json!({"cmd": self.command, "params": self.parameters}).to_string()))
    }
}

#[derive(Debug)]
struct BrowserLog;

impl fantoccini::wd::WebDriverCompatibleCommand for BrowserLog {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(json!({"type": "browser"}).to_string()))
    }
}
