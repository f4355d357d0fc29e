//! Where things are: the repository, cargo's target folder, the crates and their test targets.

use anyhow::{Context, Result};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
};

use crate::command;

/// The package that holds the browser app; it is built for WebAssembly only.
pub(crate) const FRONTEND: &str = "toolshelf-frontend";

/// What cargo knows about this workspace.
pub(crate) struct Workspace {
    /// The repository's root folder.
    pub(crate) root: PathBuf,
    /// Cargo's target folder, which `CARGO_TARGET_DIR` may have moved out of the repository.
    pub(crate) target: PathBuf,
    packages: Vec<Value>,
}

impl Workspace {
    /// Asks cargo about the workspace this program was built in.
    pub(crate) fn load() -> Result<Self> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
        let mut metadata = command::cargo();
        metadata.args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"]).arg(&manifest);
        let answer: Value = serde_json::from_str(&command::output(&mut metadata)?)
            .context("`cargo metadata` printed something other than JSON")?;
        let folder = |key: &str| {
            answer[key]
                .as_str()
                .map(PathBuf::from)
                .with_context(|| format!("`cargo metadata` names no {key}"))
        };
        Ok(Self {
            root: folder("workspace_root")?,
            target: folder("target_directory")?,
            packages: answer["packages"].as_array().cloned().unwrap_or_default(),
        })
    }

    /// Cargo, run in the repository's root.
    pub(crate) fn cargo(&self) -> Command {
        let mut cargo = command::cargo();
        cargo.current_dir(&self.root);
        cargo
    }

    /// The folder that the server embeds in release builds and reads from in debug builds.
    ///
    /// It is always inside the repository, because the path is part of the server's source.
    pub(crate) fn ui_folder(&self) -> PathBuf {
        self.root.join("target/ui")
    }

    /// The folders of the frontend and of every crate of ours that it is made of, in a stable order.
    pub(crate) fn frontend_sources(&self) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let mut waiting: Vec<&Value> =
            self.packages.iter().filter(|package| package["name"] == FRONTEND).collect();
        while let Some(package) = waiting.pop() {
            let Some(folder) = package["manifest_path"].as_str().and_then(|path| Path::new(path).parent())
            else {
                continue;
            };
            if !found.insert(folder.to_path_buf()) {
                continue;
            }
            let dependencies = package["dependencies"].as_array().into_iter().flatten();
            let ours: Vec<&str> = dependencies
                .filter(|dependency| dependency["path"].is_string() && dependency["kind"] != "dev")
                .filter_map(|dependency| dependency["name"].as_str())
                .collect();
            waiting.extend(
                self.packages.iter().filter(|package| ours.iter().any(|name| package["name"] == *name)),
            );
        }
        found
    }

    /// The names of a package's targets of one kind: `test`, `bench`, `bin`.
    pub(crate) fn targets(&self, package: &str, kind: &str) -> Vec<String> {
        let package = self.packages.iter().filter(|candidate| candidate["name"] == package);
        package.flat_map(|package| targets_of(package, kind)).collect()
    }

    /// The names of all integration test targets, without repetitions.
    pub(crate) fn test_suites(&self) -> BTreeSet<String> {
        self.packages.iter().flat_map(|package| targets_of(package, "test")).collect()
    }
}

fn targets_of(package: &Value, kind: &str) -> Vec<String> {
    let targets = package["targets"].as_array().into_iter().flatten();
    targets
        .filter(|target| target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|is| is == kind)))
        .filter_map(|target| target["name"].as_str().map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frontends_sources_follow_path_dependencies() {
        let package = |name: &str, dependencies: Value| {
            serde_json::json!({"name": name, "manifest_path": format!("/r/{name}/Cargo.toml"),
                "dependencies": dependencies, "targets": []})
        };
        let ours = |name: &str| serde_json::json!({"name": name, "path": format!("/r/{name}"), "kind": null});
        let workspace = Workspace {
            root: "/r".into(),
            target: "/r/target".into(),
            packages: vec![
                package(FRONTEND, serde_json::json!([ours("api"), {"name": "leptos", "kind": null}])),
                package("api", serde_json::json!([ours("core")])),
                package("core", serde_json::json!([])),
                package("server", serde_json::json!([ours("core")])),
            ],
        };
        let expected = ["/r/api", "/r/core", "/r/toolshelf-frontend"].map(PathBuf::from);
        assert_eq!(workspace.frontend_sources(), BTreeSet::from(expected));
    }

    #[test]
    fn this_workspace_is_found() {
        let workspace = Workspace::load().expect("cargo metadata works here");
        assert!(workspace.root.join("Cargo.lock").is_file());
        assert_eq!(workspace.targets("xtask", "bin"), ["xtask"]);
    }
}
