//! Reading and writing values, with errors that say where damage is.

use std::fmt::Display;

use chrono::{DateTime, Utc};
use sqlx::error::Error as SqlxError;
use sqlx::sqlite::SqliteRow;
use sqlx::{Decode, Row, Sqlite, Type};
use toolshelf_runtime::store::StoreError;

/// A row that was read. Columns are named `table.column`.
#[derive(Clone, Copy)]
pub(crate) struct Stored<'r> {
    row: &'r SqliteRow,
    keys: &'static [&'static str],
}

impl<'r> Stored<'r> {
    /// `keys` are the columns that tell an admin which row it is; they hold no secret.
    pub(crate) fn new(row: &'r SqliteRow, keys: &'static [&'static str]) -> Self {
        Stored { row, keys }
    }

    /// The value as the database holds it.
    pub(crate) fn get<T>(self, column: &'static str) -> Result<T, StoreError>
    where
        T: Decode<'r, Sqlite> + Type<Sqlite>,
    {
        self.row.try_get(column).map_err(|error| match error {
            SqlxError::ColumnDecode { source, .. } => self.damaged(column, source),
            other => database(other),
        })
    }

    /// A time.
    pub(crate) fn time(self, column: &'static str) -> Result<DateTime<Utc>, StoreError> {
        let micros = self.get(column)?;
        self.time_of(column, micros)
    }

    /// A time that may be absent.
    pub(crate) fn time_or_none(self, column: &'static str) -> Result<Option<DateTime<Utc>>, StoreError> {
        self.get::<Option<i64>>(column)?.map(|micros| self.time_of(column, micros)).transpose()
    }

    fn time_of(self, column: &'static str, micros: i64) -> Result<DateTime<Utc>, StoreError> {
        DateTime::from_timestamp_micros(micros)
            .ok_or_else(|| self.damaged(column, format_args!("{micros} is no time")))
    }

    /// A SHA-256.
    pub(crate) fn hash(self, column: &'static str) -> Result<[u8; 32], StoreError> {
        let bytes: &[u8] = self.get(column)?;
        bytes
            .try_into()
            .map_err(|_| self.damaged(column, format_args!("it has {} bytes, not 32", bytes.len())))
    }

    /// A number that is not negative and fits.
    pub(crate) fn number<T: TryFrom<i64>>(self, column: &'static str) -> Result<T, StoreError> {
        let number: i64 = self.get(column)?;
        T::try_from(number).map_err(|_| self.damaged(column, format_args!("{number} is out of range")))
    }

    /// The error for a value that cannot be read.
    pub(crate) fn damaged(self, column: &'static str, why: impl Display) -> StoreError {
        let keys: Vec<String> = self
            .keys
            .iter()
            .map(|key| {
                let value = self.row.try_get::<String, _>(key).or_else(|_| {
                    // Some keys are numbers.
                    self.row.try_get::<i64, _>(key).map(|number| number.to_string())
                });
                format!("{key} = {}", value.as_deref().unwrap_or("(unreadable)"))
            })
            .collect();
        StoreError::Corrupt(format!("{column} where {}: {why}", keys.join(" and ")))
    }
}

/// A time as it is stored: whole microseconds.
pub(crate) fn micros(time: DateTime<Utc>) -> i64 {
    time.timestamp_micros()
}

/// A number as it is stored.
pub(crate) fn signed(number: u64) -> Result<i64, StoreError> {
    i64::try_from(number).map_err(|error| StoreError::Database(Box::new(error)))
}

/// The port's error for one of the driver.
pub(crate) fn database(error: SqlxError) -> StoreError {
    /// The database file is malformed.
    const SQLITE_CORRUPT: i32 = 11;
    /// The file is no database.
    const SQLITE_NOTADB: i32 = 26;

    let code = error.as_database_error().and_then(|error| error.code()?.parse::<i32>().ok());
    // The lower byte of an extended code is the plain code.
    match code.map(|code| code & 0xff) {
        Some(SQLITE_CORRUPT | SQLITE_NOTADB) => StoreError::Corrupt(format!("the database file: {error}")),
        _ => StoreError::Database(Box::new(error)),
    }
}
