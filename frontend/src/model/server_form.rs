//! What is entered to add or change an upstream server.

use std::collections::{BTreeMap, HashSet};

use toolshelf_api::{CreateMcpServer, FieldError, NewConnection, UpdateMcpServer, UpdateServerSettings};

use super::upstream::{Connection, Server};

/// A text of the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The server's name.
    Name,
    /// Its name for people.
    Title,
    /// The program.
    Command,
    /// Its arguments, one on each line.
    Args,
    /// The address of the endpoint.
    Url,
}

impl Part {
    /// The field of the request that the text becomes.
    pub fn pointer(self) -> &'static str {
        match self {
            Self::Name => "/name",
            Self::Title => "/title",
            Self::Command => "/connection/command",
            Self::Args => "/connection/args",
            Self::Url => "/connection/url",
        }
    }
}

/// A variable or header. Values are never read back: what is there can only be kept or replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    /// Tells pairs apart while their names change.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Its new value.
    pub value: String,
    /// Whether the value that is there stays.
    pub keeps: bool,
}

/// What is entered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerForm {
    name: String,
    title: String,
    /// Whether it is an address, and not a program.
    pub http: bool,
    command: String,
    args: String,
    url: String,
    env: Vec<Pair>,
    headers: Vec<Pair>,
    next: u32,
}

impl ServerForm {
    /// A server as it is, without the values of its secrets.
    pub fn of(server: &Server) -> Self {
        let connection = server.connection.clone().unwrap_or_default();
        let mut form = Self {
            name: server.name.clone(),
            title: server.title.clone(),
            http: connection.is_http(),
            args: connection.args.join("\n"),
            command: connection.command,
            url: connection.url,
            ..Self::default()
        };
        for (names, http) in [(connection.env, false), (connection.headers, true)] {
            let pairs = names
                .into_iter()
                .map(|(name, readable)| {
                    form.next += 1;
                    Pair { id: form.next, name, value: String::new(), keeps: readable }
                })
                .collect();
            if http { form.headers = pairs } else { form.env = pairs }
        }
        form
    }

    /// A text.
    pub fn text(&self, part: Part) -> &str {
        match part {
            Part::Name => &self.name,
            Part::Title => &self.title,
            Part::Command => &self.command,
            Part::Args => &self.args,
            Part::Url => &self.url,
        }
    }

    /// Enters a text.
    pub fn enter(&mut self, part: Part, text: String) {
        *match part {
            Part::Name => &mut self.name,
            Part::Title => &mut self.title,
            Part::Command => &mut self.command,
            Part::Args => &mut self.args,
            Part::Url => &mut self.url,
        } = text;
    }

    /// The variables, or the headers.
    pub fn pairs(&self) -> &[Pair] {
        if self.http { &self.headers } else { &self.env }
    }

    fn pairs_mut(&mut self) -> &mut Vec<Pair> {
        if self.http { &mut self.headers } else { &mut self.env }
    }

    /// Adds an empty pair, and says which.
    pub fn add_pair(&mut self) -> u32 {
        self.next += 1;
        let id = self.next;
        self.pairs_mut().push(Pair { id, ..Pair::default() });
        id
    }

    /// Changes a pair.
    pub fn change_pair(&mut self, id: u32, change: impl FnOnce(&mut Pair)) {
        if let Some(pair) = self.pairs_mut().iter_mut().find(|pair| pair.id == id) {
            change(pair);
        }
    }

    /// Takes a pair away.
    pub fn remove_pair(&mut self, id: u32) {
        self.pairs_mut().retain(|pair| pair.id != id);
    }

    /// Takes a whole command line apart, if that is what stands in the program's place.
    pub fn take_apart(&mut self, parts: Vec<String>) {
        let mut parts = parts.into_iter();
        self.command = parts.next().unwrap_or_default();
        let mut lines: Vec<String> = parts.collect();
        lines.extend(self.arguments());
        self.args = lines.join("\n");
    }

    fn arguments(&self) -> Vec<String> {
        self.args.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    /// How the server would be reached.
    pub fn connection(&self) -> NewConnection {
        let mut secrets = BTreeMap::new();
        for pair in self.pairs() {
            let name = pair.name.trim();
            if !name.is_empty() {
                secrets.insert(name.to_owned(), (!pair.keeps).then(|| pair.value.clone()));
            }
        }
        if self.http {
            NewConnection::Http { url: self.url.trim().to_owned(), headers: secrets }
        } else {
            NewConnection::Stdio {
                command: self.command.trim().to_owned(),
                args: self.arguments(),
                env: secrets,
            }
        }
    }

    /// The request that adds the server.
    pub fn create(&self) -> CreateMcpServer {
        let title = self.title.trim();
        CreateMcpServer {
            name: self.name.trim().to_owned(),
            title: (!title.is_empty()).then(|| title.to_owned()),
            connection: self.connection(),
            enabled: None,
            settings: UpdateServerSettings::default(),
        }
    }

    /// The request that changes the server; a connection that stays is left out.
    pub fn change(&self, before: &Server) -> UpdateMcpServer {
        let title = self.title.trim();
        let title = (!title.is_empty() && title != before.title).then(|| title.to_owned());
        let stays = !self.moves(before)
            && before.connection.as_ref().is_some_and(|before| self.keeps_secrets(before));
        UpdateMcpServer {
            title,
            connection: (!stays).then(|| self.connection()),
            ..UpdateMcpServer::default()
        }
    }

    /// Whether it would be another program or address, which makes all its tools count as changed.
    pub fn moves(&self, before: &Server) -> bool {
        let Some(before) = &before.connection else { return false };
        let same_place = if self.http {
            self.url.trim() == before.url
        } else {
            self.command.trim() == before.command && self.arguments() == before.args
        };
        self.http != before.is_http() || !same_place
    }

    fn keeps_secrets(&self, before: &Connection) -> bool {
        let pairs = self.pairs();
        pairs.len() == before.secrets().len()
            && pairs
                .iter()
                .all(|pair| pair.keeps && before.secrets().iter().any(|(name, _)| *name == pair.name))
    }

    /// The field of a secret's value.
    pub fn secret_pointer(&self, name: &str) -> String {
        let list = if self.http { "headers" } else { "env" };
        format!("/connection/{list}/{}", name.trim().replace('~', "~0").replace('/', "~1"))
    }

    /// What can be seen to be missing without asking.
    pub fn mistakes(&self) -> Vec<FieldError> {
        let mut mistakes = Vec::new();
        let mut say = |pointer: String, message: &str| {
            mistakes.push(FieldError { pointer, message: message.to_owned() });
        };
        let needed = if self.http { Part::Url } else { Part::Command };
        for (part, message) in [
            (Part::Name, "Give it a name: small letters, digits and hyphens."),
            (needed, if self.http { "Enter the address." } else { "Enter the program." }),
        ] {
            if self.text(part).trim().is_empty() {
                say(part.pointer().to_owned(), message);
            }
        }
        let mut names = HashSet::new();
        for pair in self.pairs() {
            let name = pair.name.trim();
            if name.is_empty() && !pair.value.is_empty() {
                say(self.secret_pointer(""), "Give this value a name, or remove it.");
            } else if !name.is_empty() && !names.insert(name) {
                say(self.secret_pointer(name), "This name is there twice.");
            }
        }
        mistakes
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Part, ServerForm};
    use crate::model::upstream::Server;
    use crate::model::upstream_read as read;

    fn server() -> Server {
        read::server(&json!({
            "name": "github", "title": "GitHub", "enabled": true, "defer": true, "expose": true, "unsafe_in": [],
            "connection": {"transport": "stdio", "command": "npx", "args": ["-y", "x"], "env": {"A": true, "B": false}},
            "hold": "changed", "trust_annotations": false, "limits": {}, "tool_count": 0, "rejected": [],
            "status": {"state": "ready", "since": ""}, "change_count": 0, "revision": 1
        }))
        .unwrap()
    }

    #[test]
    fn what_stays_is_not_sent() {
        let mut before = server();
        if let Some(connection) = &mut before.connection {
            connection.env.retain(|(name, _)| name != "B");
        }
        let mut form = ServerForm::of(&before);
        form.enter(Part::Title, "Git Hub".to_owned());
        assert_eq!(json!(form.change(&before)), json!({"title": "Git Hub"}));
        let id = form.add_pair();
        form.change_pair(id, |pair| (pair.name, pair.value) = ("C".to_owned(), "secret".to_owned()));
        assert_eq!(
            json!(form.change(&before))["connection"],
            json!({"transport": "stdio", "command": "npx", "args": ["-y", "x"], "env": {"A": null, "C": "secret"}})
        );
        assert!(!form.moves(&before));
        form.http = true;
        assert!(form.moves(&before));
        form.enter(Part::Url, " https://x/mcp ".to_owned());
        assert_eq!(
            json!(form.change(&before))["connection"],
            json!({"transport": "http", "url": "https://x/mcp", "headers": {}})
        );
    }

    #[test]
    fn a_value_that_cannot_be_opened_is_asked_for_again() {
        let form = ServerForm::of(&server());
        let kept: Vec<_> = form.pairs().iter().map(|pair| (pair.name.as_str(), pair.keeps)).collect();
        assert_eq!(kept, [("A", true), ("B", false)]);
    }

    #[test]
    fn a_whole_command_line_is_taken_apart() {
        let mut form = ServerForm::default();
        form.enter(Part::Command, "npx -y x".to_owned());
        form.enter(Part::Args, "last one\n\n".to_owned());
        form.take_apart(["npx", "-y", "x"].map(str::to_owned).to_vec());
        assert_eq!(
            json!(form.connection()),
            json!({"transport": "stdio", "command": "npx", "args": ["-y", "x", "last one"], "env": {}})
        );
    }

    #[test]
    fn what_is_missing_is_told_beside_its_field() {
        let mut form = ServerForm::default();
        for name in ["A/B", "A/B", ""] {
            let id = form.add_pair();
            form.change_pair(id, |pair| (pair.name, pair.value) = (name.to_owned(), "x".to_owned()));
        }
        let pointers: Vec<_> = form.mistakes().into_iter().map(|mistake| mistake.pointer).collect();
        assert_eq!(pointers, ["/name", "/connection/command", "/connection/env/A~1B", "/connection/env/"]);
    }
}
