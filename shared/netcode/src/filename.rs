//! File names that Windows reserves.

/// Whether Windows takes a file of this name for a device, whatever its case and extensions.
///
/// Before Windows 11, opening `nul.txt` discards what is written, and reading `con.txt` waits for
/// the keyboard.
pub fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let is_port = |kind| {
        // Windows counts superscripts among the digits.
        let number = stem.strip_prefix(kind).and_then(|number| number.parse::<char>().ok());
        number.is_some_and(|digit| digit.is_ascii_digit() || "¹²³".contains(digit))
    };
    ["con", "prn", "aux", "nul"].contains(&&*stem) || ["com", "lpt"].into_iter().any(is_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_found_by_their_stems() {
        for name in ["con", "NUL", "aux.plr", "Prn.tar.gz", "com1", "LPT9.txt", "com²", "nul .x"] {
            assert!(is_device(name), "{name}");
        }
        for name in ["", "con_", "console", "com", "com10", "lptx", "a.con", ".nul", "comé"] {
            assert!(!is_device(name), "{name}");
        }
    }
}
