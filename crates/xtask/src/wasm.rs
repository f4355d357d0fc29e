//! From the frontend's source to the compressed WebAssembly module and its JavaScript.
//!
//! The result depends on the source alone, so it is kept under a hash of the source, and building again is skipped
//! until something that matters has changed.

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use std::{
    env, fs,
    path::{Path, PathBuf},
    time::Instant,
};
use wasm_bindgen_cli_support::Bindgen;

use crate::{
    assets::{self, compress},
    command, report,
    toolchain::{FORCE, TARGET, WasmToolchain},
    workspace::{FRONTEND, Workspace},
};

/// Part of the cache key: raise it when the steps in this file change what comes out.
const PIPELINE_VERSION: &str = "1";

/// The module's name and its script's; the server's shell asks the manifest for these.
const MODULE: &str = "app_bg.wasm";
const SCRIPT: &str = "app.js";

/// Builds the browser app unless it is cached, and puts it with the static files into `target/ui`.
pub(crate) fn build_ui(workspace: &Workspace) -> Result<()> {
    let key = cache_key(workspace)?;
    let cached = workspace.target.join("ui-cache").join(&key);
    if cached.join("complete").is_file() {
        report::note(&format!("the browser app has not changed since it was built ({key})"));
    } else {
        build_into(workspace, &cached)?;
    }
    print_sizes(&cached)?;
    assets::publish(&workspace.root.join("static"), &cached, &workspace.ui_folder())
}

/// The size of the module in bytes, raw and compressed with brotli, as the last build left it.
pub(crate) fn module_sizes(workspace: &Workspace) -> Result<(u64, u64)> {
    sizes_in(&workspace.target.join("ui-cache").join(cache_key(workspace)?))
}

/// A hash over everything that decides what the module contains.
///
/// The root manifest is hashed whole: it holds the build profile and the features of the dependencies.
fn cache_key(workspace: &Workspace) -> Result<String> {
    let mut files: Vec<PathBuf> =
        ["Cargo.toml", "Cargo.lock", ".cargo/config.toml"].map(PathBuf::from).into();
    for folder in workspace.frontend_sources() {
        for file in assets::files_below(&folder)? {
            files.push(folder.strip_prefix(&workspace.root).unwrap_or(&folder).join(file));
        }
    }
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    add(PIPELINE_VERSION.as_bytes());
    // A forced way must be tried even when another way's output is at hand.
    add(env::var_os(FORCE).unwrap_or_default().as_encoded_bytes());
    for file in &files {
        let path = workspace.root.join(file);
        add(file.as_os_str().as_encoded_bytes());
        add(&fs::read(&path).with_context(|| format!("{} cannot be read", path.display()))?);
    }
    Ok(hex::encode(&hash.finalize()[..8]))
}

fn build_into(workspace: &Workspace, cached: &Path) -> Result<()> {
    let started = Instant::now();
    let toolchain = WasmToolchain::find()?;
    let length = if toolchain.is_system() { "about 3 minutes" } else { "about 2 minutes" };
    report::step(&format!("Compiling the browser app to WebAssembly ({length} the first time)"));
    let mut cargo = toolchain.cargo(workspace, "build")?;
    cargo.args(["--package", FRONTEND, "--profile", "wasm-release"]);
    command::run(
        &mut cargo,
        "The compiler's messages are above. If it could not reach the network, the dependencies cannot be fetched: \
         check the connection and run this again.",
    )?;
    let module =
        toolchain.target_folder(workspace).join(TARGET).join("wasm-release").join(format!("{FRONTEND}.wasm"));

    report::step("Binding it to JavaScript and compressing it (some seconds)");
    let work = assets::WorkFolder::beside(cached)?;
    bind(&module, work.path())?;
    for name in [MODULE, SCRIPT] {
        compress::write_beside(&work.path().join(name), compress::SMALLEST)?;
    }
    fs::write(work.path().join("complete"), "")?;
    work.replace(cached)?;
    report::note(&format!("done in {}", report::seconds(started.elapsed())));
    Ok(())
}

/// Writes the module and the script that loads it.
///
/// The script is told the module's address when it starts, because that address has a hash in it.
fn bind(module: &Path, into: &Path) -> Result<()> {
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(module)
        .out_name("app")
        .typescript(false)
        .demangle(false)
        .omit_default_module_path(true)
        .remove_name_section(true)
        .remove_producers_section(true);
    bindgen.web(true)?.generate(into).with_context(|| {
        format!(
            "no bindings could be made for {}: are all `wasm-bindgen` versions in Cargo.lock the same?",
            module.display()
        )
    })?;
    if into.join("snippets").exists() {
        bail!(
            "a dependency of the frontend brings JavaScript files of its own (wasm-bindgen `snippets`), which the \
             asset pipeline does not rename. Use `inline_js`-free dependencies, or teach crates/xtask/src/wasm.rs"
        );
    }
    Ok(())
}

fn print_sizes(folder: &Path) -> Result<()> {
    let (raw, brotli) = sizes_in(folder)?;
    report::note(&format!("{MODULE}: {}, {} with brotli", report::kilobytes(raw), report::kilobytes(brotli)));
    Ok(())
}

fn sizes_in(folder: &Path) -> Result<(u64, u64)> {
    let size = |name: String| {
        let path = folder.join(name);
        fs::metadata(&path).map(|file| file.len()).with_context(|| format!("{} is missing", path.display()))
    };
    Ok((size(MODULE.to_owned())?, size(format!("{MODULE}.br"))?))
}
