//! The lists of columns in SELECT statements.

/// A table's columns, each under the name `table.column`, so that a row of a join can be read by parts and an error
/// names the column in full.
macro_rules! columns {
    ($table:literal: $first:literal $(, $other:literal)* $(,)?) => {
        concat!(
            $table, ".", $first, " AS \"", $table, ".", $first, "\"",
            $(", ", $table, ".", $other, " AS \"", $table, ".", $other, "\"",)*
        )
    };
}

pub(crate) use columns;
