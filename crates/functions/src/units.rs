//! Figures for people.

pub(crate) use toolshelf_runtime::thousands;

/// A number of bytes, such as `4.2 KB`.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["KB", "MB", "GB", "TB", "PB"];
    if count < 1_000 {
        return if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") };
    }
    let mut divisor = 1_000_u64;
    let mut unit = 0;
    while count / divisor >= 1_000 && unit + 1 < UNITS.len() {
        divisor *= 1_000;
        unit += 1;
    }
    let tenths = u128::from(count) * 10 / u128::from(divisor);
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

/// A number with its noun, such as `1 file` or `2,300 files`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(count), if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::{bytes, counted};

    #[test]
    fn sizes_are_readable() {
        for (count, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1_000, "1.0 KB"),
            (999_999, "999.9 KB"),
            (1_000_000, "1.0 MB"),
            (5_250_000_000, "5.2 GB"),
            (u64::MAX, "18446.7 PB"),
        ] {
            assert_eq!(bytes(count), text);
        }
    }

    #[test]
    fn counts_agree_with_their_noun() {
        assert_eq!(counted(1, "file", "files"), "1 file");
        assert_eq!(counted(1_234, "file", "files"), "1,234 files");
        assert_eq!(counted(0, "file", "files"), "0 files");
    }
}
