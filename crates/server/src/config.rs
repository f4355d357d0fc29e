//! Configuration: a file, then the environment, then flags.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Value;
use toolshelf_core::ModelLimits;
use toolshelf_upstream::Timing;
use url::Url;

use crate::cli::ServeArgs;

/// What the server was told. Every part is checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen.
    pub listen: SocketAddr,
    /// The folder for the database and the workspaces.
    pub data: PathBuf,
    /// How people reach the server, when that is not where it listens.
    pub public_url: Option<Url>,
    /// Proxies whose `X-Forwarded-For` counts.
    pub trusted_proxies: Vec<IpAddr>,
    /// Hosts that `web_fetch` may reach although their address is private.
    pub web_allowed_hosts: Vec<String>,
    /// The limits of the model that the console stands for.
    pub console: ModelLimits,
    /// The file with the key that secrets are sealed with; one in the data folder if absent.
    pub key_file: Option<PathBuf>,
    /// Whether API keys with the scope `admin` may add upstream servers that run a program on this machine.
    pub keys_may_add: bool,
    /// What programs of upstream servers get of this process's environment: `PATH`, `HOME` and `LANG`.
    pub environment: ProgramEnvironment,
    /// How long connections to upstream servers may take, and how soon they are tried again.
    pub upstream_timing: Timing,
}

/// What programs of upstream servers get of this process's environment.
#[derive(Clone, Debug, Default)]
pub struct ProgramEnvironment {
    /// Where programs are looked up.
    pub path: Option<String>,
    /// The home folder.
    pub home: Option<String>,
    /// The language.
    pub lang: Option<String>,
}

/// Says what is wrong with the configuration and where.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {message}")]
pub struct ConfigError {
    place: String,
    message: String,
}

impl ConfigError {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }
}

/// The file, and the environment laid over it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    server: ServerSection,
    web: WebSection,
    models: ModelsSection,
    secrets: SecretsSection,
    upstreams: UpstreamsSection,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SecretsSection {
    key_file: Option<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct UpstreamsSection {
    keys_may_add: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ServerSection {
    listen: Option<String>,
    data: Option<PathBuf>,
    public_url: Option<String>,
    trusted_proxies: Vec<IpAddr>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct WebSection {
    allowed_hosts: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ModelsSection {
    console: ModelSection,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ModelSection {
    max_tools: Option<u32>,
    context_window: Option<u32>,
    deferral: Option<bool>,
}

const DEFAULT_FILE: &str = "toolshelf.toml";
const PREFIX: &str = "TOOLSHELF__";

impl Config {
    /// Listens there and keeps everything in this folder; nothing else is said.
    pub fn new(listen: SocketAddr, data: PathBuf) -> Self {
        Self {
            listen,
            data,
            public_url: None,
            trusted_proxies: Vec::new(),
            web_allowed_hosts: Vec::new(),
            console: ModelLimits::default(),
            key_file: None,
            keys_may_add: false,
            environment: ProgramEnvironment::default(),
            upstream_timing: Timing::default(),
        }
    }

    /// Reads file, environment and flags.
    pub fn load(args: &ServeArgs) -> Result<Self, ConfigError> {
        let text = match &args.config {
            Some(path) => read(path)?,
            None if Path::new(DEFAULT_FILE).exists() => read(Path::new(DEFAULT_FILE))?,
            None => String::new(),
        };
        let name = args.config.as_deref().unwrap_or(Path::new(DEFAULT_FILE)).display().to_string();
        Self::from_parts(&name, &text, std::env::vars(), args)
    }

    fn from_parts(
        file_name: &str,
        text: &str,
        environment: impl Iterator<Item = (String, String)>,
        args: &ServeArgs,
    ) -> Result<Self, ConfigError> {
        let mut own = ProgramEnvironment::default();
        let mut table: toml::Table =
            text.parse().map_err(|error: toml::de::Error| ConfigError::new(file_name, error.to_string()))?;
        for (key, value) in environment {
            match key.as_str() {
                "PATH" => own.path = Some(value.clone()),
                "HOME" => own.home = Some(value.clone()),
                "LANG" => own.lang = Some(value.clone()),
                _ => {}
            }
            if let Some(path) = key.strip_prefix(PREFIX) {
                overlay(&mut table, path, &value).map_err(|message| ConfigError::new(&key, message))?;
            }
        }
        let file: File = Value::Table(table)
            .try_into()
            .map_err(|error: toml::de::Error| ConfigError::new(file_name, error.message()))?;

        let listen =
            args.listen.clone().or(file.server.listen).unwrap_or_else(|| "127.0.0.1:7717".to_owned());
        let listen: SocketAddr = listen.replace("localhost:", "127.0.0.1:").parse().map_err(|_| {
            ConfigError::new(
                "server.listen",
                format!("{listen:?} is not an address with a port, such as 127.0.0.1:7717"),
            )
        })?;
        if !listen.ip().is_loopback() && !args.allow_remote {
            return Err(ConfigError::new(
                "server.listen",
                format!(
                    "{listen} can be reached from other machines. If you mean that, add --allow-remote, and set server.public_url."
                ),
            ));
        }
        let public_url = file.server.public_url.map(|text| parse_public_url(&text)).transpose()?;
        Ok(Self {
            listen,
            data: args.data.clone().or(file.server.data).unwrap_or_else(|| "./data".into()),
            public_url,
            trusted_proxies: file.server.trusted_proxies,
            web_allowed_hosts: file.web.allowed_hosts,
            console: ModelLimits {
                max_tools: file.models.console.max_tools,
                context_window: file.models.console.context_window,
                no_deferral: file.models.console.deferral == Some(false),
            },
            key_file: file.secrets.key_file,
            keys_may_add: file.upstreams.keys_may_add,
            environment: own,
            upstream_timing: Timing::default(),
        })
    }
}

fn read(path: &Path) -> Result<String, ConfigError> {
    std::fs::read_to_string(path)
        .map_err(|error| ConfigError::new(path.display().to_string(), error.to_string()))
}

fn parse_public_url(text: &str) -> Result<Url, ConfigError> {
    let refuse = |message: &str| ConfigError::new("server.public_url", format!("{text:?} {message}"));
    let url = Url::parse(text).map_err(|error| refuse(&format!("is not a URL: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(refuse("must begin with http:// or https:// and name a host"));
    }
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() || !url.username().is_empty() {
        return Err(refuse("must be a scheme, a host and perhaps a port, and nothing else"));
    }
    Ok(url)
}

/// Lays `SECTION__KEY=value` over the file. A value that reads as TOML is taken as such, and as text otherwise.
fn overlay(table: &mut toml::Table, path: &str, text: &str) -> Result<(), String> {
    let path = path.to_lowercase();
    let Some((sections, key)) = path.rsplit_once("__") else {
        return Err(format!("write {PREFIX}SECTION__KEY, such as {PREFIX}SERVER__PUBLIC_URL"));
    };
    let value = format!("value = {text}")
        .parse::<toml::Table>()
        .ok()
        .and_then(|mut parsed| parsed.remove("value"))
        .filter(|value| !matches!(value, Value::Datetime(_)))
        .unwrap_or_else(|| Value::String(text.to_owned()));
    let mut table = table;
    for section in sections.split("__") {
        let section = table.entry(section).or_insert_with(|| Value::Table(toml::Table::new()));
        table = section.as_table_mut().ok_or("the file gives this section a single value")?;
    }
    table.insert(key.to_owned(), value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Config;
    use crate::cli::ServeArgs;

    fn load(text: &str, environment: &[(&str, &str)], args: &ServeArgs) -> Result<Config, String> {
        let environment = environment.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Config::from_parts("toolshelf.toml", text, environment, args).map_err(|error| error.to_string())
    }

    #[test]
    fn limits_of_models_come_from_file_and_environment() {
        let environment = [("TOOLSHELF__MODELS__CONSOLE__CONTEXT_WINDOW", "8000")];
        let file = "[models.console]\nmax_tools = 128\n";
        let limits = load(file, &environment, &ServeArgs::default()).unwrap().console;
        assert_eq!((limits.max_tools, limits.context_window), (Some(128), Some(8_000)));
        for file in
            ["[models.gpt]\nmax_tools = 1", "[models.console]\ntools = 1", "[models.console]\nmax_tools = -1"]
        {
            assert!(load(file, &[], &ServeArgs::default()).is_err(), "{file}");
        }
    }

    #[test]
    fn keys_secrets_and_the_environment_of_programs() {
        let environment = [("PATH", "/bin"), ("TOOLSHELF__UPSTREAMS__KEYS_MAY_ADD", "true")];
        let config = load("[secrets]\nkey_file = \"/k\"", &environment, &ServeArgs::default()).unwrap();
        assert!(config.keys_may_add);
        assert_eq!(config.key_file.unwrap().to_str(), Some("/k"));
        assert_eq!((config.environment.path.as_deref(), config.environment.home), (Some("/bin"), None));
        assert!(!load("", &[], &ServeArgs::default()).unwrap().keys_may_add);
        let off = load("[models.console]\ndeferral = false", &[], &ServeArgs::default()).unwrap();
        assert!(off.console.no_deferral);
    }

    #[test]
    fn flags_win_over_the_environment_and_that_over_the_file() {
        let file = "[server]\nlisten = \"127.0.0.1:1\"\ndata = \"file\"\n";
        let environment = [("TOOLSHELF__SERVER__LISTEN", "127.0.0.1:2"), ("PATH", "x")];
        let flags = ServeArgs { listen: Some("127.0.0.1:3".to_owned()), ..ServeArgs::default() };
        let none = ServeArgs::default();
        for (environment, flags, port) in
            [(&[][..], &none, 1), (&environment, &none, 2), (&environment, &flags, 3)]
        {
            assert_eq!(load(file, environment, flags).unwrap().listen.port(), port);
        }
        assert_eq!(load(file, &environment, &flags).unwrap().data.to_str(), Some("file"));
    }

    #[test]
    fn lists_can_come_from_the_environment() {
        let environment = [("TOOLSHELF__SERVER__TRUSTED_PROXIES", "[\"127.0.0.1\"]")];
        assert_eq!(load("", &environment, &ServeArgs::default()).unwrap().trusted_proxies.len(), 1);
    }

    #[test]
    fn each_mistake_is_named_with_its_place() {
        let none = ServeArgs::default();
        for (file, environment, place) in [
            ("[server]\nlisten = \"nowhere\"", &[][..], "server.listen"),
            ("[server]\nport = 1", &[], "port"),
            ("[srver]\n", &[], "srver"),
            ("[server]\npublic_url = \"ftp://x\"", &[], "server.public_url"),
            ("[server]\npublic_url = \"https://x/path\"", &[], "server.public_url"),
            ("", &[("TOOLSHELF__LISTEN", "x")], "TOOLSHELF__LISTEN"),
            ("not toml", &[], "toolshelf.toml"),
        ] {
            let error = load(file, environment, &none).unwrap_err();
            assert!(error.contains(place), "{file:?}: {error}");
        }
    }

    #[test]
    fn other_machines_may_connect_only_when_it_was_said() {
        let listen = Some("0.0.0.0:7717".to_owned());
        let refused =
            load("", &[], &ServeArgs { listen: listen.clone(), ..ServeArgs::default() }).unwrap_err();
        assert!(refused.contains("--allow-remote"), "{refused}");
        assert!(load("", &[], &ServeArgs { listen, allow_remote: true, ..ServeArgs::default() }).is_ok());
    }
}
