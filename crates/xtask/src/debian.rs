//! Installing missing packages on Debian, or telling which command would do it.

use anyhow::{Result, bail};
use std::{path::Path, process::Command};

use crate::{command, report};

/// Whether this is Debian or a system made from it.
pub(crate) fn is_debian() -> bool {
    Path::new("/etc/debian_version").exists() && command::find_program("apt-get").is_some()
}

/// Installs packages when this is Debian and we are root; otherwise fails with the command to type.
///
/// `purpose` completes the sentence "… is needed".
pub(crate) fn install(packages: &[&str], purpose: &str) -> Result<()> {
    let typed =
        format!("apt-get update && apt-get install -y --no-install-recommends {}", packages.join(" "));
    if !is_debian() {
        bail!(
            "{purpose} is needed and this is not Debian, so it cannot be installed from here. \
             Install what these Debian packages hold, then run this again: {}",
            packages.join(" ")
        );
    }
    if !is_root() {
        bail!("{purpose} is needed. Run this as root, then run the last command again:\n    {typed}");
    }
    report::step(&format!("Installing {} (about a minute)", packages.join(" ")));
    let remedy = format!("Check that the package mirror can be reached, or install by hand:\n    {typed}");
    refresh(&remedy)?;
    command::run(apt_get().args(["install", "-y", "--no-install-recommends"]).args(packages), &remedy)
}

/// The newest linker package that the package lists offer, after refreshing them when we may.
pub(crate) fn newest_lld_package() -> Result<String> {
    if is_debian() && is_root() {
        refresh("Check that the package mirror can be reached.")?;
    }
    let list = command::output(Command::new("apt-cache").args(["search", "--names-only", "^lld-[0-9]+$"]));
    let Some(version) = list.ok().and_then(|list| newest_lld(&list)) else {
        bail!("the package lists offer no `lld-NN`: run `apt-get update` as root, then run this again");
    };
    Ok(format!("lld-{version}"))
}

/// The highest NN among the `lld-NN` in the output of `apt-cache search`.
fn newest_lld(list: &str) -> Option<u32> {
    list.lines()
        .filter_map(|line| line.split_whitespace().next()?.strip_prefix("lld-")?.parse::<u32>().ok())
        .max()
}

fn refresh(remedy: &str) -> Result<()> {
    command::run(apt_get().args(["update", "-qq"]), remedy)
}

/// apt-get, asking nothing and waiting a while when another one is at work.
fn apt_get() -> Command {
    let mut apt_get = Command::new("apt-get");
    apt_get.env("DEBIAN_FRONTEND", "noninteractive").args(["-q", "-o", "DPkg::Lock::Timeout=120"]);
    apt_get
}

fn is_root() -> bool {
    command::output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_linker_is_chosen_by_number() {
        let list = "lld-9 - LLVM-based linker\nlld-22 - LLVM-based linker\nlld-14 - LLVM-based linker\n\
                    lld-22-dev - headers\nlld - LLVM-based linker\n";
        assert_eq!(newest_lld(list), Some(22));
        assert_eq!(newest_lld(""), None);
    }
}
