//! The key of this installation, with which secrets are sealed: 32 random bytes, written as 64 hex digits.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use toolshelf_runtime::Environment;

/// Reads the key from its file. The file in the data folder is made when there is none; one that the configuration names
/// must be there, because a new key would open nothing of what is stored.
pub(crate) fn load(named: Option<&Path>, data: &Path, environment: &Environment) -> anyhow::Result<[u8; 32]> {
    if let Some(path) = named {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("secrets.key_file: {} cannot be read", path.display()))?;
        return parse(&text, path);
    }
    let path = data.join("secret.key");
    match std::fs::read_to_string(&path) {
        Ok(text) => parse(&text, &path),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let key = environment.new_secret();
            // It appears whole or not at all, and a second server that starts at the same time does not replace it.
            let written = path.with_extension(format!("key.{}", environment.new_id()));
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&written)?;
            file.write_all(format!("{}\n", hex::encode(key)).as_bytes())?;
            file.sync_all()?;
            let linked = std::fs::hard_link(&written, &path);
            std::fs::remove_file(&written)?;
            match linked {
                Ok(()) => Ok(key),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    parse(&std::fs::read_to_string(&path)?, &path)
                }
                Err(error) => Err(error).with_context(|| format!("{} cannot be made", path.display())),
            }
        }
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
    }
}

fn parse(text: &str, path: &Path) -> anyhow::Result<[u8; 32]> {
    let bytes = hex::decode(text.trim()).ok().and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
    bytes.ok_or_else(|| {
        anyhow!("{} holds no key: it must have 64 hex digits. Without the right key stored secrets stay closed; put it back from a backup.", path.display())
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use toolshelf_runtime::Environment;

    use super::load;

    #[test]
    fn is_made_once_for_its_owner_alone() {
        let data = tempfile::tempdir().unwrap();
        let environment = Environment::system();
        let key = load(None, data.path(), &environment).unwrap();
        assert_eq!(load(None, data.path(), &environment).unwrap(), key);
        let file = data.path().join("secret.key");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 1, "nothing else is left behind");
        assert_eq!(load(Some(&file), std::path::Path::new("/nowhere"), &environment).unwrap(), key);
    }

    #[test]
    fn a_damaged_or_missing_key_is_never_replaced() {
        let data = tempfile::tempdir().unwrap();
        let environment = Environment::system();
        let file = data.path().join("secret.key");
        for text in ["", "zz", "00", &"0".repeat(63)] {
            std::fs::write(&file, text).unwrap();
            assert!(load(None, data.path(), &environment).unwrap_err().to_string().contains("64 hex digits"));
            assert_eq!(std::fs::read_to_string(&file).unwrap(), *text);
        }
        assert!(load(Some(&data.path().join("other")), data.path(), &environment).is_err());
    }
}
