//! Finding a compiler for WebAssembly on any machine.
//!
//! Four ways are tried in order: the toolchain in use has the target already; rustup adds it; a Rust from the
//! system's packages builds the standard library for it from source; and otherwise the exact commands are printed.
//! `TOOLSHELF_WASM=target`, `rustup` or `system` forces one way, to test it or to avoid the network.

use anyhow::{Context, Result, bail};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use crate::{command, debian, report, workspace::Workspace};

/// The target that browsers run.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// The variable that forces one way.
pub(crate) const FORCE: &str = "TOOLSHELF_WASM";

/// A compiler that can build for [`TARGET`].
#[derive(Debug)]
pub(crate) enum WasmToolchain {
    /// The toolchain in use has the target's standard library.
    Active,
    /// A Rust from the system's packages, which builds the standard library itself.
    System(SystemRust),
}

/// A Rust from the system's packages, with library source and a linker.
#[derive(Debug)]
pub(crate) struct SystemRust {
    folder: PathBuf,
    linker: PathBuf,
}

impl WasmToolchain {
    /// Finds or installs a compiler, trying the ways in order unless `TOOLSHELF_WASM` forces one.
    pub(crate) fn find() -> Result<Self> {
        let forced = env::var_os(FORCE).map(|value| value.to_string_lossy().into_owned());
        match forced.as_deref() {
            None | Some("") => find_any(),
            Some("target") if has_target() => Ok(Self::Active),
            Some("target") => {
                bail!(
                    "{FORCE}=target, but the toolchain in use has no {TARGET}. Unset {FORCE} to try the other ways"
                )
            }
            Some("rustup") if add_target() => Ok(Self::Active),
            Some("rustup") => {
                bail!(
                    "{FORCE}=rustup, but `rustup target add {TARGET}` did not work. Unset {FORCE} to try the other ways"
                )
            }
            Some("system") => system_rust().map(Self::System),
            Some(other) => bail!("{FORCE}={other} is none of `target`, `rustup` and `system`"),
        }
    }

    /// Whether the standard library has to be built from source, by another compiler than the one in use.
    pub(crate) fn is_system(&self) -> bool {
        matches!(self, Self::System(_))
    }

    /// `cargo SUBCOMMAND` for the browser target.
    ///
    /// Each compiler has its own target folder: two compilers that share one rebuild everything on each change.
    pub(crate) fn cargo(&self, workspace: &Workspace, subcommand: &str) -> Result<Command> {
        let mut cargo = match self {
            Self::Active => workspace.cargo(),
            Self::System(rust) => {
                let mut cargo = Command::new(rust.folder.join("cargo"));
                cargo.current_dir(&workspace.root);
                rust.prepare(&mut cargo)?;
                cargo
            }
        };
        cargo.args([subcommand, "--target", TARGET, "--target-dir"]).arg(self.target_folder(workspace));
        if self.is_system() {
            cargo.args(["-Z", "build-std=std,panic_abort"]);
        }
        Ok(cargo)
    }

    /// Where this compiler's output goes.
    pub(crate) fn target_folder(&self, workspace: &Workspace) -> PathBuf {
        workspace.target.join(if self.is_system() { "wasm-system" } else { "wasm" })
    }
}

impl SystemRust {
    fn prepare(&self, cargo: &mut Command) -> Result<()> {
        cargo
            .env("PATH", command::path_with(&self.folder)?)
            .env("RUSTC", self.folder.join("rustc"))
            // `-Z build-std` is accepted by a stable compiler only with this.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", &self.linker);
        // These belong to the toolchain that runs this program and would mislead the other one.
        for variable in
            ["RUSTUP_TOOLCHAIN", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RUSTDOC", "LD_LIBRARY_PATH"]
        {
            cargo.env_remove(variable);
        }
        Ok(())
    }
}

fn find_any() -> Result<WasmToolchain> {
    if has_target() || add_target() {
        return Ok(WasmToolchain::Active);
    }
    report::note("rustup cannot add the target here; looking for a system Rust that can build it");
    system_rust().map(WasmToolchain::System).context(format!(
        "no compiler for the browser app (target {TARGET}) could be found or installed. One of these gets one:\n    \
         with rustup:            rustup target add {TARGET}\n    \
         on Debian, as root:     apt-get update && apt-get install -y rustc-web cargo-web rust-web-src lld-NN\n    \
         \x20                       (NN: the highest that `apt-cache search --names-only '^lld-[0-9]+$'` lists)"
    ))
}

/// Whether the toolchain in use has the target's standard library in its sysroot.
fn has_target() -> bool {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let folder = command::output(Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]));
    let Ok(entries) = folder.and_then(|folder| Ok(fs::read_dir(folder.trim())?)) else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("libstd-") && name.ends_with(".rlib")
    })
}

/// Asks rustup for the target; `false` when there is no rustup or it cannot reach its server.
fn add_target() -> bool {
    if command::find_program("rustup").is_none() {
        return false;
    }
    report::step(&format!("Adding the target {TARGET} with rustup (a download of about 20 MB)"));
    let mut rustup = Command::new("rustup");
    rustup.args(["target", "add", TARGET]);
    command::succeeds_within(&mut rustup, Duration::from_mins(3)) && has_target()
}

/// The system's Rust, its packages installed first when they are missing and we may install them.
fn system_rust() -> Result<SystemRust> {
    let folder = Path::new("/usr/bin");
    if compiler_with_source(folder).is_err() && debian::is_debian() {
        debian::install(&["rustc-web", "cargo-web", "rust-web-src"], "a system Rust with library source")?;
    }
    let llvm = compiler_with_source(folder)?;
    // A linker older than the compiler's LLVM may not read the objects, so a newer one is installed if there is one.
    if newest_linker(folder).is_none_or(|(version, _)| version < llvm) && debian::is_debian() {
        let package = debian::newest_lld_package()?;
        debian::install(&[&package], "a WebAssembly linker")?;
    }
    let linker = newest_linker(folder).map(|(_, path)| path).or_else(|| command::find_program("wasm-ld"));
    let linker = linker.context("no WebAssembly linker (`wasm-ld`) is installed: install LLVM's lld")?;
    report::note(&format!(
        "using the system's Rust in {} with {}, which builds the standard library too",
        folder.display(),
        linker.display()
    ));
    Ok(SystemRust { folder: folder.to_path_buf(), linker })
}

/// Checks that a folder has a cargo and a rustc, new enough and with library source; answers rustc's LLVM version.
fn compiler_with_source(folder: &Path) -> Result<u32> {
    let rustc = || {
        let mut rustc = Command::new(folder.join("rustc"));
        rustc.env_remove("RUSTUP_TOOLCHAIN").env_remove("LD_LIBRARY_PATH");
        rustc
    };
    if !folder.join("cargo").is_file() || !folder.join("rustc").is_file() {
        bail!("there is no system Rust in {}", folder.display());
    }
    let about = command::output(rustc().arg("-vV"))?;
    let field = |name: &str| about.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let release = field("release:").context("`rustc -vV` names no release")?;
    let needed = env!("CARGO_PKG_RUST_VERSION");
    if version(release) < version(needed) {
        bail!("the system's Rust is {release}, and {needed} or newer is needed");
    }
    let sysroot = command::output(rustc().args(["--print", "sysroot"]))?;
    let source = Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/Cargo.toml");
    if !source.is_file() {
        bail!("the system's Rust has no library source ({} is missing)", source.display());
    }
    Ok(field("LLVM version:").map_or(0, |llvm| version(llvm).0))
}

/// The first two numbers of a version such as `1.96.0` or `22.1.8`.
fn version(text: &str) -> (u32, u32) {
    let mut numbers = text.split(['.', '-']).map_while(|part| part.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// The `wasm-ld-NN` with the highest NN in a folder.
fn newest_linker(folder: &Path) -> Option<(u32, PathBuf)> {
    let entries = fs::read_dir(folder).ok()?;
    let linkers = entries.flatten().filter_map(|entry| {
        let number = entry.file_name().to_str()?.strip_prefix("wasm-ld-")?.parse().ok()?;
        Some((number, entry.path()))
    });
    linkers.max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number() {
        assert!(version("1.100.0") > version("1.95"));
        assert!(version("1.96.0-nightly") >= version("1.95"));
        assert!(version("1.63.0") < version("1.95"));
    }

    #[test]
    fn the_newest_linker_in_a_folder_is_chosen() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["wasm-ld-9", "wasm-ld-22", "wasm-ld-16", "wasm-ld-old", "ld.lld-23"] {
            fs::write(folder.path().join(name), "").expect("it is writable");
        }
        assert_eq!(newest_linker(folder.path()), Some((22, folder.path().join("wasm-ld-22"))));
    }

    #[test]
    fn a_folder_without_rust_says_so() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let error = compiler_with_source(folder.path()).expect_err("nothing is there");
        assert!(error.to_string().starts_with("there is no system Rust in"), "{error}");
    }
}
