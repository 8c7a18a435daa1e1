//! Tests that compare the sources with the languages: each text that is shown is translated, and
//! none is shown without [`tr`](super::tr) or [`fill`](super::fill).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::*;

/// Calls that show their text.
const SHOWN: &[&str] = &[
    "action_in",
    "add_notice",
    "action",
    "action_below",
    "button",
    "checkbox",
    "chip",
    "choose",
    "draw_sign",
    "entry",
    "field",
    "heading",
    "hint_text",
    "label",
    "layout",
    "layout_no_wrap",
    "name_tag",
    "note",
    "on_disabled_hover_text",
    "on_hover_text",
    "on_hover_text_at_pointer",
    "row",
    "say",
    "selectable_label",
    "selectable_value",
    "set_error",
    "show_notice",
    "slider",
    "small",
    "small_button",
    "switch",
    "text",
    "text_over",
    "Button::new",
    "Label::new",
    "RichText::new",
    "TextFormat::simple",
];

/// Calls and brackets that pass a text on.
const HANDED_ON: &[&str] = &["", "Some", "Ok", "Err", "format!", "vec!", "concat!"];

/// Names of variables that hold a shown text.
const VARIABLES: &[&str] = &[
    "about",
    "head",
    "hint",
    "how",
    "label",
    "line",
    "line_words",
    "motto",
    "title",
    "told",
    "what",
    "words",
];

/// Texts that are the same in every language: names, units, and what is not language.
const UNTRANSLATED: &[&str] =
    &["PHASELOCK", "directory.example.org", "Hz", "kB/s", "m", "ms", "p", "ppm", "s", "s/", "v"];

/// A string literal in a source file.
#[derive(Debug)]
struct Literal {
    line: usize,
    /// Value of the literal, without escapes.
    text: String,
    /// The code before it, without blanks and comments; literals there are reduced to their quotes.
    before: String,
    /// Calls and brackets around it, the innermost last.
    calls: Vec<String>,
}

/// The string literals of a source file, without its unit tests.
fn literals(source: &str) -> Vec<Literal> {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let (mut rest, mut line) = (code, 1);
    let (mut before, mut calls, mut found) = (String::new(), Vec::new(), Vec::new());
    while let Some(next) = rest.chars().next() {
        let raw = rest.strip_prefix('r').map(|after| after.trim_start_matches('#'));
        let is_name = before.ends_with(|it: char| it.is_alphanumeric() || it == '_');
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(raw) = raw.filter(|it| it.starts_with('"') && !is_name) {
            let hashes = rest.len() - raw.len() - 1;
            let end = format!("\"{}", "#".repeat(hashes));
            let text = raw[1..].split(&end).next().unwrap_or_default();
            before.push_str("\"\"");
            2 + 2 * hashes + text.len() + 1
        } else if next == '"' {
            let length = quoted(rest);
            let text = unescaped(&rest[1..length - 1]);
            found.push(Literal { line, text, before: tail(&before), calls: calls.clone() });
            before.push_str("\"\"");
            length
        } else if next == '\'' {
            let length = character(rest);
            before.push('\'');
            length
        } else {
            match next {
                '(' | '[' | '{' => calls.push(if next == '{' { "" } else { name(&before) }.into()),
                ')' | ']' | '}' => drop(calls.pop()),
                _ => {}
            }
            // A blank between two words is kept.
            let after = rest[next.len_utf8()..].chars().next();
            let word = |it: char| it.is_alphanumeric() || it == '_';
            if !next.is_whitespace() || (is_name && after.is_some_and(word)) {
                before.push(if next.is_whitespace() { ' ' } else { next });
            }
            next.len_utf8()
        };
        let (read, after) = rest.split_at(length.min(rest.len()));
        line += read.matches('\n').count();
        rest = after;
    }
    found
}

/// The last characters of the code, as many as the patterns need.
fn tail(before: &str) -> String {
    before.chars().skip(before.chars().count().saturating_sub(400)).collect()
}

/// Length of the string literal at the beginning.
fn quoted(source: &str) -> usize {
    let mut escaped = false;
    let end = source.char_indices().skip(1).find(|(_, it)| {
        let ends = *it == '"' && !escaped;
        escaped = *it == '\\' && !escaped;
        ends
    });
    end.map_or(source.len(), |(at, _)| at + 1)
}

/// Length of the character literal, or of the quote before a lifetime.
fn character(source: &str) -> usize {
    let mut inside = source.char_indices().skip(1);
    match inside.next() {
        Some((_, '\\')) => source[3..].find('\'').map_or(1, |at| at + 4),
        Some(_) => inside.next().filter(|(_, it)| *it == '\'').map_or(1, |(at, _)| at + 1),
        None => 1,
    }
}

/// Resolves escapes and continued lines.
fn unescaped(text: &str) -> String {
    let (mut rest, mut plain) = (text, String::new());
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let mut letters = after.chars();
        match letters.next() {
            Some('\n') => {
                rest = after.trim_start();
                continue;
            }
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some('u') => {
                let (code, after) = after[2..].split_once('}').unwrap_or_default();
                plain.extend(u32::from_str_radix(code, 16).ok().and_then(char::from_u32));
                rest = after;
                continue;
            }
            Some(other) => plain.push(other),
            None => {}
        }
        rest = letters.as_str();
    }
    plain + rest
}

/// Name of the call at the end of the code, with one part of its path: `label`, `Id::new`,
/// `format!`.
fn name(before: &str) -> &str {
    let part = |it: char| it.is_alphanumeric() || "_:!".contains(it);
    let start = before
        .rfind(|it| !part(it))
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    let path = &before[start..];
    let is_type = |it: &str| it.starts_with(char::is_uppercase);
    match path.rsplit_once("::") {
        Some((owner, _)) => {
            let owner = owner.rsplit("::").next().unwrap_or_default();
            let at = path.len() - path.rsplit("::").next().unwrap_or_default().len();
            if is_type(owner) { &path[at - 2 - owner.len()..] } else { &path[at..] }
        }
        None => path,
    }
}

impl Literal {
    /// Whether the source declares this text for translation.
    fn is_word(&self) -> bool {
        let ends = |pattern: &str| {
            let before = self.before.strip_suffix(pattern);
            before.is_some_and(|it| !it.ends_with(|it: char| it.is_alphanumeric() || it == '_'))
        };
        let columns = self.before.trim_end_matches("\"\",");
        let is_column = columns.ends_with("Scoreboard::new(scene,&[");
        ends("tr(") || ends("fill(") || ends("Action::new(\"\",") || is_column || {
            let is_title = [".hint(", ".on_glass("].iter().any(|it| self.before.ends_with(it));
            is_title && !self.text.is_empty()
        }
    }

    /// Whether this text is shown untranslated although it has words.
    fn bypasses(&self) -> bool {
        if self.is_word() || !has_words(&self.text) {
            return false;
        }
        let calls = self.calls.iter().rev();
        let call = calls.map(String::as_str).find(|call| !HANDED_ON.contains(call));
        let before = self.before.strip_suffix("format!(").unwrap_or(&self.before);
        let assigned = before.strip_suffix('=').map(name).unwrap_or_default();
        let declared = before.ends_with(&format!("let {assigned}="));
        call.is_some_and(|call| SHOWN.contains(&call))
            || (declared && VARIABLES.contains(&assigned))
    }
}

/// Whether a text has English words outside of its placeholders.
fn has_words(text: &str) -> bool {
    let mut parts = text.split('{');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once('}').map_or(part, |(_, after)| after));
    let bare = rest.fold(first, |bare, part| bare + " " + part);
    let mut words =
        bare.split_whitespace().map(|it| it.trim_matches(|it: char| !it.is_alphabetic()));
    words.any(|word| !word.is_empty() && !UNTRANSLATED.contains(&word))
}

/// Folders whose sources contain texts for the player.
const FOLDERS: [&str; 4] = ["ui/src", "views/src", "window/src", "lab/src/scene"];

/// Returns the sources with texts for the player, by path. Returns `None` in the published crate,
/// next to which there are no others; Cargo adds `Cargo.toml.orig` to every package.
fn sources() -> Option<BTreeMap<String, String>> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    if own.join("Cargo.toml.orig").exists() {
        return None;
    }
    let root = own.parent().expect("crates have a folder");
    let mut folders: Vec<_> = FOLDERS.iter().map(|folder| root.join(folder)).collect();
    let mut all = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
            // The command line is in English, and tests are not shown.
            let is_mute =
                ["tests.rs", "/args.rs", "/main.rs"].iter().any(|end| name.ends_with(end));
            match path.is_dir() {
                true if !name.ends_with("/words") && !name.ends_with("_tests") => {
                    folders.push(path)
                }
                false if name.ends_with(".rs") && !is_mute => {
                    all.insert(name, std::fs::read_to_string(&path).unwrap());
                }
                _ => {}
            }
        }
    }
    Some(all)
}

/// All texts of the sources, by the first file that has them.
fn words_of(sources: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut words = BTreeMap::new();
    for (file, source) in sources {
        for it in literals(source).into_iter().filter(Literal::is_word) {
            words.entry(it.text).or_insert_with(|| file.clone());
        }
    }
    words
}

/// Errors in a language: missing lines by source file, and lines that no source needs.
fn faults(words: &BTreeMap<String, String>, language: &Language) -> Vec<String> {
    let mut missing: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (english, file) in words.iter().filter(|(english, _)| language.get(english).is_none()) {
        missing.entry(file).or_default().push(format!("{english:?} = \"\""));
    }
    let missing = missing
        .into_iter()
        .flat_map(|(file, lines)| std::iter::once(format!("# {file}")).chain(lines));
    let extra = language.words.keys().filter(|english| !words.contains_key(*english));
    missing.chain(extra.map(|english| format!("no source says {english:?}"))).collect()
}

#[test]
fn included_languages_say_all_that_the_sources_say() {
    let Some(sources) = sources() else { return };
    let words = words_of(&sources);
    assert!(words.len() > 300, "the sources were not understood: {} words", words.len());
    for (code, text) in INCLUDED {
        let faults = faults(&words, &Language::parse(text).unwrap());
        assert!(faults.is_empty(), "languages/{code}.toml:\n{}", faults.join("\n"));
    }
}

#[test]
fn no_text_is_shown_past_the_languages() {
    let Some(sources) = sources() else { return };
    let mut found = Vec::new();
    for (file, source) in &sources {
        let bypasses = literals(source).into_iter().filter(Literal::bypasses);
        found.extend(bypasses.map(|it| format!("{file}:{}: {:?}", it.line, it.text)));
    }
    assert!(found.is_empty(), "put these into tr(..) or fill(..):\n{}", found.join("\n"));
}

#[test]
fn gaps_and_leftovers_of_a_language_are_listed() {
    let source = r#"
        // tr("a comment")
        let a: &'static str = tr("Play"); let b = ('"', '\'', '\n'); ptr("no word");
        let c = fill("{name} \"has\" \u{2026} \
                      joined", &[("name", &name)]);
        const GO: Action = Action::new("go", "move", &["W"]).hint("step").hint("").on_glass("on");
        Scoreboard::new(scene, &["FRAGS", "DEATHS"], key);
        "#;
    let sources = BTreeMap::from([("a.rs".to_owned(), source.to_owned())]);
    let words = words_of(&sources);
    let all = ["DEATHS", "FRAGS", "Play", "move", "on", "step", "{name} \"has\" … joined"];
    assert_eq!(words.keys().collect::<Vec<_>>(), all);
    let file = "language = \"X\"\n[words]\n\"FRAGS\" = \"f\"\n\"DEATHS\" = \"d\"\n\
                \"step\" = \"s\"\n\"on\" = \"o\"\n\"move\" = \"\"\n\"gone\" = \"g\"\n\
                \"Play\" = \"p\"\n";
    let faults = faults(&words, &Language::parse(file).unwrap());
    let missing = "\"{name} \\\"has\\\" … joined\" = \"\"";
    assert_eq!(faults, ["# a.rs", "\"move\" = \"\"", missing, "no source says \"gone\""]);
}

#[test]
fn texts_past_the_languages_are_found() {
    let source = r##"
        ui.label("one"); ui.label(tr("fine")); Area::new(Id::new("fine")).show(ui, |ui| {
            action(ui, &format!("two {name}"), true);
            text_over(painter, at, if late { "three" } else { tr("fine") }, 12.0);
        });
        let words = format!("four {it}"); let words = format!("{secs:.1} ms"); let id = "fine";
        ui.add(Button::new(RichText::new("five"))); r#"fine"#; ui.label(format!("{a}: {b} ms"));
        "##;
    let found: Vec<_> = literals(source).into_iter().filter(Literal::bypasses).collect();
    let found: Vec<_> = found.iter().map(|it| (it.line, &*it.text)).collect();
    let all = [(2, "one"), (3, "two {name}"), (4, "three"), (6, "four {it}"), (7, "five")];
    assert_eq!(found, all);
}
