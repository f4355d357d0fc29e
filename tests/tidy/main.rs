//! Dependencies point one way, as ARCHITECTURE.md says.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Which of our crates each of our crates may use, beside the testkit and the tools of development.
const MAY_USE: [(&str, &[&str]); 11] = [
    ("toolshelf-core", &[]),
    ("toolshelf-api", &["toolshelf-core"]),
    ("toolshelf-runtime", &["toolshelf-core"]),
    ("toolshelf-functions", &["toolshelf-core", "toolshelf-runtime"]),
    ("toolshelf-providers", &["toolshelf-core", "toolshelf-runtime"]),
    ("toolshelf-store", &["toolshelf-core", "toolshelf-runtime"]),
    ("toolshelf-upstream", &["toolshelf-core", "toolshelf-runtime"]),
    ("toolshelf-service", &["toolshelf-core", "toolshelf-api", "toolshelf-runtime"]),
    (
        "toolshelf-server",
        &[
            "toolshelf-core",
            "toolshelf-api",
            "toolshelf-runtime",
            "toolshelf-functions",
            "toolshelf-providers",
            "toolshelf-store",
            "toolshelf-upstream",
            "toolshelf-service",
        ],
    ),
    ("toolshelf-frontend", &["toolshelf-core", "toolshelf-api"]),
    ("xtask", &[]),
];

/// Which of our crates may name a dependency themselves. An empty list: none may.
const ONLY_IN: [(&str, &[&str]); 9] = [
    ("axum", &["toolshelf-server"]),
    ("tower-http", &["toolshelf-server"]),
    ("askama", &["toolshelf-server"]),
    ("sqlx", &["toolshelf-store"]),
    ("rmcp", &["toolshelf-upstream", "toolshelf-server"]),
    ("leptos", &["toolshelf-frontend"]),
    ("argon2", &["toolshelf-service"]),
    ("reqwest", &["toolshelf-functions", "toolshelf-upstream"]),
    ("rusqlite", &[]),
];

/// What must not be in the crates that are compiled for the browser, however far down.
const NOT_IN_THE_BROWSER: [&str; 8] =
    ["tokio", "sqlx", "axum", "hyper", "reqwest", "getrandom", "rustls", "toolshelf-runtime"];

struct Workspace {
    /// Normal and build dependencies of our crates, by name.
    direct: BTreeMap<String, BTreeSet<String>>,
    metadata: Value,
}

impl Workspace {
    fn read() -> Self {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
        let host = run(&["-vV"]);
        let host =
            host.lines().find_map(|line| line.strip_prefix("host: ")).expect("cargo says for what it is");
        // What only other systems need may not have been downloaded, and says nothing about our crates.
        let output = run(&[
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--filter-platform",
            host,
            "--manifest-path",
            manifest,
        ]);
        let metadata: Value = serde_json::from_str(&output).expect("metadata is JSON");
        let mut direct = BTreeMap::new();
        for package in list(&metadata["packages"]).iter().filter(|package| package["source"].is_null()) {
            let dependencies =
                list(&package["dependencies"]).iter().filter(|dependency| dependency["kind"] != "dev");
            direct.insert(
                text(&package["name"]),
                dependencies.map(|dependency| text(&dependency["name"])).collect(),
            );
        }
        Self { direct, metadata }
    }

    /// Everything that is linked into a crate.
    fn all_below(&self, name: &str) -> BTreeSet<String> {
        let names: BTreeMap<&str, String> = list(&self.metadata["packages"])
            .iter()
            .map(|package| (package["id"].as_str().expect("an id"), text(&package["name"])))
            .collect();
        let mut uses: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for node in list(&self.metadata["resolve"]["nodes"]) {
            let normal = list(&node["deps"]).iter().filter(|dependency| {
                list(&dependency["dep_kinds"])
                    .iter()
                    .any(|kind| kind["kind"].is_null() && kind["target"].is_null())
            });
            let below = normal.map(|dependency| dependency["pkg"].as_str().expect("an id")).collect();
            uses.insert(node["id"].as_str().expect("an id"), below);
        }
        let start =
            names.iter().find(|(_, known)| *known == name).map(|(id, _)| *id).expect("a crate of ours");
        let mut found = BTreeSet::new();
        let mut waiting = vec![start];
        while let Some(id) = waiting.pop() {
            for below in &uses[id] {
                if found.insert(names[below].clone()) {
                    waiting.push(below);
                }
            }
        }
        found
    }
}

/// What cargo prints.
fn run(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO")).args(arguments).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a text")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

#[test]
fn our_crates_use_each_other_one_way() {
    let workspace = Workspace::read();
    let rules: BTreeMap<&str, &[&str]> = MAY_USE.into_iter().collect();
    for (name, dependencies) in &workspace.direct {
        if name == "toolshelf-tests" {
            continue;
        }
        let allowed =
            rules.get(name.as_str()).unwrap_or_else(|| panic!("say in tests/tidy what {name} may use"));
        for dependency in dependencies.iter().filter(|dependency| workspace.direct.contains_key(*dependency))
        {
            assert!(allowed.contains(&dependency.as_str()), "{name} must not use {dependency}");
        }
    }
    for name in rules.keys() {
        assert!(workspace.direct.contains_key(*name), "{name} is gone: remove its rule");
    }
}

#[test]
fn frameworks_and_drivers_stay_where_they_belong() {
    let workspace = Workspace::read();
    for (dependency, crates) in ONLY_IN {
        for (name, dependencies) in &workspace.direct {
            if name != "toolshelf-tests" && dependencies.contains(dependency) {
                assert!(crates.contains(&name.as_str()), "{name} must not use {dependency}");
            }
        }
    }
    let everything = list(&workspace.metadata["packages"]).iter().map(|package| text(&package["name"]));
    assert!(!everything.collect::<BTreeSet<_>>().contains("rusqlite"));
}

#[test]
fn what_runs_in_the_browser_needs_no_operating_system() {
    let workspace = Workspace::read();
    for name in ["toolshelf-core", "toolshelf-api"] {
        let below = workspace.all_below(name);
        assert!(below.contains("serde"), "the walk through the dependencies of {name} found {below:?}");
        for dependency in NOT_IN_THE_BROWSER {
            assert!(!below.contains(dependency), "{name} must not reach {dependency}");
        }
    }
    let frontend = workspace.all_below("toolshelf-frontend");
    for dependency in ["sqlx", "axum", "toolshelf-runtime", "toolshelf-service", "toolshelf-server"] {
        assert!(!frontend.contains(dependency), "toolshelf-frontend must not reach {dependency}");
    }
}

#[test]
fn the_service_names_no_adapter_even_far_down() {
    let below = Workspace::read().all_below("toolshelf-service");
    for dependency in ["sqlx", "axum", "reqwest", "toolshelf-store", "toolshelf-functions"] {
        assert!(!below.contains(dependency), "toolshelf-service must not reach {dependency}");
    }
}
