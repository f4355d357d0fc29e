//! The static files and the browser app, named by their content and compressed ahead of time.
//!
//! A name such as `css/app.0123456789abcdef.css` never has other content, so browsers may keep it for ever; the
//! manifest leads from the plain name to the current one.

pub(crate) mod compress;
mod css;
mod folder;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

pub(crate) use folder::{WorkFolder, files_below};

use crate::report;

/// From plain names to names with a hash, both with `/` on every system.
type Manifest = BTreeMap<String, String>;

/// One file to publish.
struct Asset {
    content: Vec<u8>,
    /// The cached file whose compressed forms lie beside it, if it has any.
    compressed: Option<PathBuf>,
}

/// Publishes the static files and the app's module and script into `target`, replacing it as a whole.
///
/// When nothing has changed the folder is left alone, so that a server that embeds it is not compiled again.
pub(crate) fn publish(statics: &Path, app: &Path, target: &Path) -> Result<()> {
    let mut assets = BTreeMap::new();
    for file in files_below(statics)? {
        let name = plain_name(&file)?;
        let content = read(&statics.join(&file))?;
        assets.insert(name, Asset { content, compressed: None });
    }
    for name in ["app.js", "app_bg.wasm"] {
        let path = app.join(name);
        let asset = Asset { content: read(&path)?, compressed: Some(path) };
        if assets.insert(name.to_owned(), asset).is_some() {
            bail!("static/{name} has the name of a generated file: rename it");
        }
    }
    let manifest = hash_names(&mut assets)?;
    if is_published(&manifest, target) {
        report::note(&format!("{} files in {} are up to date", manifest.len(), target.display()));
        return Ok(());
    }

    let work = WorkFolder::beside(target)?;
    for (name, hashed) in &manifest {
        write(&assets[name], &work.path().join(hashed))?;
    }
    fs::write(work.path().join("manifest.json"), serde_json::to_vec_pretty(&manifest)?)?;
    work.replace(target)?;
    report::note(&format!("{} files published in {}", manifest.len(), target.display()));
    Ok(())
}

/// Names every file after its content; style sheets last, because their content names other files.
fn hash_names(assets: &mut BTreeMap<String, Asset>) -> Result<Manifest> {
    let mut manifest = Manifest::new();
    let (sheets, others): (Vec<String>, Vec<String>) =
        assets.keys().cloned().partition(|name| css::is_sheet(name));
    for name in others {
        let hashed = hashed_name(&name, &assets[&name].content);
        manifest.insert(name, hashed);
    }
    let mut waiting: BTreeSet<String> = sheets.into_iter().collect();
    while !waiting.is_empty() {
        let before = waiting.len();
        for name in waiting.clone() {
            let text = std::str::from_utf8(&assets[&name].content)
                .with_context(|| format!("static/{name} is not UTF-8 text"))?;
            // A sheet that imports another waits until that one has its name.
            if css::references(text, &name)?.iter().any(|reference| waiting.contains(reference)) {
                continue;
            }
            let text = css::rewrite(text, &name, &manifest)?;
            manifest.insert(name.clone(), hashed_name(&name, text.as_bytes()));
            if let Some(asset) = assets.get_mut(&name) {
                asset.content = text.into_bytes();
            }
            waiting.remove(&name);
        }
        if waiting.len() == before {
            let names: Vec<String> = waiting.into_iter().collect();
            bail!("these style sheets import each other in a circle: {}", names.join(", "));
        }
    }
    Ok(manifest)
}

/// `css/app.css` becomes `css/app.<16 hexadecimal digits>.css`.
fn hashed_name(name: &str, content: &[u8]) -> String {
    let hash = hex::encode(&Sha256::digest(content)[..8]);
    let (folder, file) = name.rsplit_once('/').map_or(("", name), |(folder, file)| (folder, file));
    let file = match file.rsplit_once('.') {
        Some((stem, extension)) => format!("{stem}.{hash}.{extension}"),
        None => format!("{file}.{hash}"),
    };
    if folder.is_empty() { file } else { format!("{folder}/{file}") }
}

fn is_published(manifest: &Manifest, target: &Path) -> bool {
    let published = fs::read(target.join("manifest.json")).ok();
    let published: Option<Manifest> = published.and_then(|text| serde_json::from_slice(&text).ok());
    published.as_ref() == Some(manifest) && manifest.values().all(|name| target.join(name).is_file())
}

fn write(asset: &Asset, path: &Path) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, &asset.content).with_context(|| format!("{} cannot be written", path.display()))?;
    match &asset.compressed {
        Some(original) => compress::copy_beside(original, path),
        None if compress::is_worthwhile(path) => compress::write_beside(path, compress::QUICK),
        None => Ok(()),
    }
}

fn plain_name(file: &Path) -> Result<String> {
    let parts: Option<Vec<&str>> = file.iter().map(|part| part.to_str()).collect();
    Ok(parts.with_context(|| format!("static/{} is not a UTF-8 name: rename it", file.display()))?.join("/"))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("{} cannot be read", path.display()))
}

#[cfg(test)]
mod tests;
