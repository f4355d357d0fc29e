//! Arguments between what JSON Schema allows and what an argument type takes.

use serde_json::{Map, Value};

/// Turns whole numbers that are written as floating-point numbers, such as `3.0` and `1e2`, into integers.
///
/// To JSON Schema they are integers, and argument types would refuse them. Types of floating-point numbers take
/// integers as well.
pub(super) fn with_integers(arguments: Map<String, Value>) -> Map<String, Value> {
    arguments.into_iter().map(|(name, value)| (name, with_integer(value))).collect()
}

fn with_integer(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => match number.as_f64().and_then(whole) {
            Some(whole) => Value::from(whole),
            None => Value::Number(number),
        },
        Value::Array(values) => Value::Array(values.into_iter().map(with_integer).collect()),
        Value::Object(members) => Value::Object(with_integers(members)),
        other => other,
    }
}

/// The number as an integer, if it is one.
fn whole(number: f64) -> Option<i64> {
    // -2⁶³ is the least integer of this type, and 2⁶³ the first that is too large; both are exact here.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and within the limits")]
    let cast = |number: f64| number as i64;
    (number.fract() == 0.0 && (-LIMIT..LIMIT).contains(&number)).then(|| cast(number))
}

/// What is said when the argument type refuses what the schema allows.
///
/// The library's text names Rust types behind the word "expected", so only a number that it complains about is taken
/// out of it.
pub(super) fn refused(reason: &str) -> String {
    let number = ["invalid value: integer `", "invalid type: floating point `", "invalid type: integer `"]
        .iter()
        .find_map(|start| reason.strip_prefix(start)?.split_once('`'))
        .map(|(number, _)| number);
    match number {
        Some(number) => format!("The number {number} is outside of what the tool can take."),
        None => "The tool cannot read the arguments, although their form is right. Compare them with its \
                 description."
            .to_owned(),
    }
}
