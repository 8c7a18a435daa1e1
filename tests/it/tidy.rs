//! Checks of the rules for sources and layout.

use std::fs;
use std::path::{Path, PathBuf};

use crate::documents::pages;

/// Words that only a translation uses, and what to write instead. The last two are special: a
/// sentence that ends in this word, and a doc comment that begins with these.
const TRANSLATED: [(&str, &str); 6] = [
    ("anew", "again, or a verb such as `restart` and `reload`"),
    ("whoever", "the player, the caller, anyone who"),
    ("whomever", "the player, the caller, anyone whom"),
    ("so many", "the number, or up to how many"),
    ("else.", "`otherwise` or the condition, at the front of the sentence"),
    ("The same", "what the item is or does, so that its first line makes sense alone"),
];

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns every file below a folder with one of these extensions (any if empty), with its text.
fn texts(folder: &str, extensions: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder is there").flatten() {
            let path = entry.path();
            let extension = path.extension().and_then(|extension| extension.to_str());
            let is_wanted = extensions.is_empty()
                || extension.is_some_and(|extension| extensions.contains(&extension));
            if path.is_dir() {
                // Skip what is built: by a package that is its own workspace, and by Python.
                let is_built = ["target", "__pycache__"].iter().any(|name| path.ends_with(name));
                folders.extend(Some(path).filter(|_| !is_built));
            } else if is_wanted {
                let text = fs::read_to_string(&path).expect("a source is text");
                let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
                // As the tests write it, also on Windows.
                found.push((name.replace('\\', "/"), text));
            }
        }
    }
    assert!(!found.is_empty(), "no sources in {folder}");
    found
}

/// Returns every Rust source below a folder, with its text.
pub(super) fn sources(folder: &str) -> Vec<(String, String)> {
    texts(folder, &["rs"])
}

/// Returns a source without its tests, which come last.
pub(super) fn code(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text)
}

fn assert_absent(folder: &str, except: &[&str], words: &[&str], why: &str) {
    for (name, text) in sources(folder) {
        if except.iter().any(|part| name.contains(part)) {
            continue;
        }
        for word in words {
            assert!(!code(&text).contains(word), "{name} says '{word}': {why}");
        }
    }
}

#[test]
fn sources_say_what_they_are_for() {
    for folder in ["shared", "server", "client", "tests", "fuzz/src"] {
        for (name, text) in sources(folder) {
            assert!(text.starts_with("//!"), "{name} does not begin with what it is for");
        }
    }
}

#[test]
fn lines_end_by_column_100() {
    for folder in ["shared", "server", "client", "tests", "fuzz/src"] {
        for (name, text) in sources(folder) {
            for (number, line) in (1..).zip(text.lines()) {
                let columns = line.chars().count();
                assert!(columns <= 100, "{name}:{number} has {columns} columns");
            }
        }
    }
}

#[test]
fn pages_end_by_column_100_outside_of_tables_and_blocks() {
    for path in pages().into_iter().filter(|path| path.ends_with(".md")) {
        let text = fs::read_to_string(root().join(&path)).expect("a page");
        let mut block = false;
        for (number, line) in (1..).zip(text.lines()) {
            let fence = line.trim_start().starts_with("```");
            block ^= fence;
            let columns = line.chars().count();
            let exempt = block || line.starts_with('|');
            assert!(exempt || columns <= 100, "{path}:{number} has {columns} columns");
        }
        assert!(!block, "{path} does not end its last block");
    }
}

#[test]
fn cores_do_no_io_and_read_no_clock() {
    let words = ["tokio", "quinn::", "macroquad", "std::net", "std::fs", "Instant", "SystemTime"];
    for folder in ["shared/netcode/src", "shared/games/src"] {
        // The crate's map draws what lies around it.
        assert_absent(folder, &["lib.rs"], &words, "cores are told the time and fed packets");
    }
}

#[test]
fn engine_and_products_never_read_the_wall_clock() {
    // It may be set at any time. Only seeds, the Unix time of tick 0 (for measuring clocks on one
    // host) and the log's timestamps may read it.
    let except = ["shared/quic/src/clock.rs", "server/src/logging"];
    for folder in ["shared", "server", "client"] {
        assert_absent(folder, &except, &["SystemTime"], "the wall clock may be set");
    }
}

#[test]
fn the_system_clock_dates_nothing_by_itself() {
    // It may jump, so dates come from the server's calendar. --check-config has no server.
    let except = ["server/src/clocks.rs", "server/src/certificate.rs"];
    assert_absent("server", &except, &["Clock::unix_millis"], "ask Clocks");
    let except = ["shared/quic/src/clock.rs", "shared/quic/src/identity/presented.rs"];
    for folder in ["shared", "client"] {
        assert_absent(folder, &except, &["Clock::unix_millis"], "the system clock may jump");
    }
}

#[test]
fn games_know_no_network() {
    let network =
        ["phaselock::wire::control", "phaselock::snapshot", "phaselock::clock", "phaselock::link"];
    assert_absent("shared/games/src", &["lib.rs"], &network, "a game knows no network");
}

#[test]
fn only_the_drivers_name_quinn() {
    for folder in ["shared/netcode/src", "shared/games", "server", "client"] {
        assert_absent(folder, &[], &["quinn::"], "see shared/quic/");
    }
}

#[test]
fn the_image_is_built_from_every_manifest() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("the file is there");
    let (workspace, image) = (read("Cargo.toml"), read("docker/Dockerfile"));
    let sent = read(".dockerignore");
    let sent: Vec<_> = sent.lines().filter_map(|line| line.strip_prefix('!')).collect();
    let crates = image.split("RUN for crate in ").nth(1).and_then(|rest| rest.split(';').next());
    let crates: Vec<_> = crates.expect("the list of empty crates").split(' ').collect();
    let members = workspace.split("members = [").nth(1).and_then(|rest| rest.split(']').next());
    for member in members.expect("the list of members").split('"').skip(1).step_by(2) {
        let manifest = format!("{member}/Cargo.toml");
        let copied = format!("\nCOPY {manifest} {member}/\n");
        assert!(image.contains(&copied), "docker/Dockerfile does not copy {manifest}");
        assert!(crates.contains(&member), "docker/Dockerfile makes no empty {member}");
        let is_sent = sent.iter().any(|path| Path::new(&manifest).starts_with(path));
        assert!(is_sent, ".dockerignore leaves {manifest} out");
    }
}

/// Returns the lines of a text with words that only a translation uses, each with its entry.
fn translated(text: &str) -> Vec<(usize, (&'static str, &'static str))> {
    let [words @ .., last, first] = TRANSLATED;
    let mut found = Vec::new();
    let mut before = String::new();
    let mut was_doc = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start();
        let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        if !was_doc && doc.is_some_and(|doc| doc.trim_start().starts_with(first.0)) {
            found.push((number, first));
        }
        was_doc = doc.is_some();
        // Names are split at their underscores.
        for word in line.split(|c: char| !c.is_alphanumeric() && c != '.') {
            let word = word.to_lowercase();
            let bare = word.trim_matches('.');
            if bare.is_empty() {
                continue;
            }
            let pair = format!("{before} {bare}");
            found.extend(
                words.iter().filter(|it| it.0 == bare || it.0 == pair).map(|it| (number, *it)),
            );
            // "Nothing else.", "anywhere else.", "no one else." and "little else." are English.
            let is_idiom =
                ["thing", "where", "one", "little"].iter().any(|end| before.ends_with(end));
            if word == last.0 && !is_idiom {
                found.push((number, last));
            }
            before = word;
        }
    }
    found
}

#[test]
fn texts_do_not_read_like_a_translation() {
    let of_page = |path: String| {
        let text = fs::read_to_string(root().join(&path)).expect("a page");
        (path, text)
    };
    let mut all: Vec<_> = pages().into_iter().map(of_page).collect();
    for folder in ["shared", "server", "client", "tests", "fuzz/src"] {
        all.extend(texts(folder, &["rs", "toml", "html", "js", "css", "py"]));
    }
    for folder in [".ci", "docker"] {
        all.extend(texts(folder, &[]));
    }
    let mut problems = Vec::new();
    // This file has the words.
    for (name, text) in all.iter().filter(|(name, _)| !name.ends_with("tidy.rs")) {
        for (line, (word, instead)) in translated(text) {
            problems.push(format!("{name}:{line} has '{word}'; write {instead}"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn translated_words_are_found() {
    let words = |text: &str| -> Vec<_> {
        translated(text).into_iter().map(|(line, (word, _))| (line, word)).collect()
    };
    assert_eq!(words("It begins\n// anew. Whoever"), [(2, "anew"), (2, "whoever")]);
    assert_eq!(words("/// Up to so\n/// many bytes."), [(2, "so many")]);
    assert_eq!(words("fn begins_anew() {"), [(1, "anew")]);
    assert_eq!(words("the port of the page, 4434 else."), [(1, "else.")]);
    assert_eq!(words("/// The same, faster.\nfn a() {}"), [(1, "The same")]);
    let fine =
        "/// One of many. It does so. Many do; nothing\n/// else. As\n/// The same player does.";
    assert!(words(fine).is_empty(), "{:?}", words(fine));
}
