//! `functions_meta.json` files: read with errors that name the place, and never written.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use toolshelf_api::{FunctionsMeta, ImportedFunctions};
use toolshelf_runtime::Environment;
use toolshelf_service::{Service, ServiceError};

use crate::serve::{How, Opened, open};

/// The name of the file that a new data folder may hold.
pub(crate) const FILE_NAME: &str = "functions_meta.json";

/// The largest file that is read, in bytes.
const FILE_MAX: u64 = 10 * 1024 * 1024;

/// Reads a document.
fn read(path: &Path) -> anyhow::Result<FunctionsMeta> {
    let shown = path.display();
    let size = std::fs::metadata(path).with_context(|| format!("{shown} cannot be read"))?.len();
    anyhow::ensure!(size <= FILE_MAX, "{shown} is larger than {} MB", FILE_MAX / 1024 / 1024);
    let text = std::fs::read_to_string(path).with_context(|| format!("{shown} cannot be read"))?;
    let mut reader = serde_json::Deserializer::from_str(&text);
    let document = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| anyhow!("{shown}: at {}: {}", error.path(), error.inner()))?;
    reader.end().map_err(|error| anyhow!("{shown}: {error}"))?;
    Ok(document)
}

/// Every part of a document that is refused, a line each.
fn refused(path: &Path, error: ServiceError) -> anyhow::Error {
    match error {
        ServiceError::Invalid(errors) => {
            let lines = errors.iter().map(|error| format!("\n  {}: {}", error.pointer, error.message));
            anyhow!("{} is refused, and nothing was changed:{}", path.display(), lines.collect::<String>())
        }
        other => anyhow!(other).context(format!("{} is refused, and nothing was changed", path.display())),
    }
}

/// Has the file of a new data folder imported when the first account is made. A damaged file stops the start: a server
/// that went on would offer more than the file says.
pub(crate) async fn at_first_start(service: &Service, data: &Path) -> anyhow::Result<()> {
    let path = data.join(FILE_NAME);
    if !path.exists() || !service.needs_setup().await? {
        return Ok(());
    }
    service.import_at_setup(read(&path)?).map_err(|error| refused(&path, error))?;
    tracing::info!("{} is imported when the first account is made", path.display());
    Ok(())
}

/// Imports a file into a data folder that no server uses.
pub(crate) async fn import(path: &Path, data: &Path, replace: bool) -> anyhow::Result<ImportedFunctions> {
    let document = read(path)?;
    anyhow::ensure!(
        data.join("toolshelf.db").exists(),
        "there is no database in {}; name the data folder with --data, or start the server once: it imports a {FILE_NAME} \
         that lies in a new data folder",
        data.display()
    );
    let Opened { service, store, .. } =
        open(data, How::at_rest(), Vec::new(), Environment::system(), |registry| registry).await?;
    let imported = service.import_functions(document, replace).await.map_err(|error| refused(path, error));
    drop(service);
    Arc::clone(&store).close().await;
    imported
}
