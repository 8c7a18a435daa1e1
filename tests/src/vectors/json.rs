//! JSON with members in the order of the code, and a line for each compared item.

use serde::Serialize;

/// A value on one line.
pub(super) fn value(value: impl Serialize) -> String {
    serde_json::to_string(&value).expect("numbers, texts and lists are JSON")
}

/// An object on one line, from values in JSON.
pub(super) fn object(members: &[(&str, String)]) -> String {
    let members: Vec<_> =
        members.iter().map(|(name, it)| format!("{}:{it}", value(name))).collect();
    format!("{{{}}}", members.join(","))
}

/// A list on one line, from values in JSON.
pub(super) fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(","))
}

/// A list with a line for each value.
pub(super) fn lines(items: impl IntoIterator<Item = String>) -> String {
    format!("[\n{}\n]", items.into_iter().collect::<Vec<_>>().join(",\n"))
}

/// A file: an object with one line per member, or as many as the member has.
pub(super) fn file(members: &[(&str, String)]) -> String {
    let members: Vec<_> =
        members.iter().map(|(name, it)| format!("{}:{it}", value(name))).collect();
    format!("{{\n{}\n}}\n", members.join(",\n"))
}

/// Bytes in hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    value(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// A 64-bit number as a text of decimal digits, since not every JSON reader has 64 bits.
pub(super) fn wide(number: impl std::fmt::Display) -> String {
    value(number.to_string())
}
