//! Dependencies point down: between crates, between the modules of a crate, and no file is part of
//! an import cycle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::tidy::{code, root, sources};

/// Each crate, its folder, and the crates of ours that its library may depend on. A program's
/// `main` also depends on its games.
const CRATES: [(&str, &str, &[&str]); 17] = [
    ("phaselock", "shared/netcode", &[]),
    ("phaselock-quic", "shared/quic", &["phaselock"]),
    ("phaselock-c", "shared/c", &["phaselock", "phaselock-quic"]),
    ("phaselock-games", "shared/games", &["phaselock"]),
    ("phaselock-cli", "shared/cli", &[]),
    ("phaselock-sound", "client/sound", &[]),
    ("phaselock-testing", "tests/sim", &["phaselock", "phaselock-quic"]),
    ("phaselock-server", "server", &["phaselock", "phaselock-cli", "phaselock-quic"]),
    ("phaselock-directory", "server/directory", &["phaselock", "phaselock-cli", "phaselock-quic"]),
    ("phaselock-ui", "client/ui", &["phaselock", "phaselock-sound"]),
    ("phaselock-lab", "client/lab", &["phaselock", "phaselock-cli", "phaselock-ui"]),
    (
        "phaselock-bots",
        "client/bots",
        &["phaselock", "phaselock-cli", "phaselock-quic", "phaselock-lab"],
    ),
    ("phaselock-web", "client/web", &["phaselock"]),
    ("phaselock-views", "client/views", VIEWS),
    ("phaselock-client", "client/window", WINDOW),
    ("phaselock-tests", "tests", ALL),
    ("phaselock-fuzz", "fuzz", &["phaselock-tests"]),
];

const VIEWS: &[&str] = &["phaselock", "phaselock-games", "phaselock-sound", "phaselock-ui"];

const WINDOW: &[&str] = &[
    "phaselock",
    "phaselock-cli",
    "phaselock-quic",
    "phaselock-lab",
    "phaselock-sound",
    "phaselock-ui",
    "phaselock-web",
];

const ALL: &[&str] = &[
    "phaselock",
    "phaselock-quic",
    "phaselock-c",
    "phaselock-games",
    "phaselock-testing",
    "phaselock-server",
    "phaselock-directory",
    "phaselock-lab",
    "phaselock-bots",
];

/// Crates with a program that includes the five games.
const PROGRAMS: [&str; 4] =
    ["phaselock-server", "phaselock-lab", "phaselock-bots", "phaselock-client"];

/// Returns a file's text without tests and comments.
fn statements(text: &str) -> String {
    let lines = code(text).lines().map(|line| line.split("//").next().unwrap_or_default());
    // Paths in macros and visibilities are not imports.
    lines.collect::<Vec<_>>().join("\n").replace("$crate", "").replace("pub(in crate::", "pub(")
}

/// Whether a file belongs to a program instead of a library, or to the five games' views.
fn is_program(name: &str) -> bool {
    name.ends_with("src/main.rs") || name.contains("/bin/") || name.starts_with("client/views/")
}

fn is_test(name: &str) -> bool {
    name.ends_with("tests.rs")
        || ["/tests/", "_tests/", "/benches/"].iter().any(|it| name.contains(it))
}

#[test]
fn crates_know_only_those_below_them() {
    for (name, folder, known) in CRATES {
        let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml"));
        let manifest = manifest.expect("every crate has a manifest");
        assert!(manifest.contains(&format!("name = \"{name}\"\n")), "{folder} is not {name}");
        let mut section = "";
        for line in manifest.lines() {
            if line.starts_with('[') {
                section = line;
            }
            let dependency = line.split(['.', ' ', '=']).next().unwrap_or_default();
            let counts = section.ends_with("dependencies]") && !section.contains("dev-");
            if !counts || !dependency.starts_with("phaselock") {
                continue;
            }
            let games = ["phaselock-games", "phaselock-views"].contains(&dependency)
                && PROGRAMS.contains(&name);
            assert!(games || known.contains(&dependency), "{name} must not know {dependency}");
        }
    }
    let workspace =
        fs::read_to_string(root().join("Cargo.toml")).expect("the workspace's manifest");
    let members = workspace.split_once("members = [").and_then(|(_, rest)| rest.split_once(']'));
    let (members, _) = members.expect("a workspace has members");
    let members: BTreeSet<_> = members.split('"').skip(1).step_by(2).collect();
    let folders = CRATES.iter().map(|(_, folder, _)| *folder);
    assert_eq!(members, folders.collect(), "a crate is missing here");
}

#[test]
fn netcode_drivers_and_products_name_no_game() {
    let names = phaselock_games::all().names().map(str::to_owned).collect::<Vec<_>>();
    let types = ["Skirmish", "ShufflePuck", "Asteroids", "Platformer", "phaselock_games"];
    let products = ["server/src", "server/directory/src", "client"];
    for folder in ["shared/netcode/src", "shared/quic/src", "tests/sim"].iter().chain(&products) {
        for (name, text) in sources(folder) {
            if is_program(&name) {
                continue;
            }
            // The products' own tests may name their games.
            let product = products.contains(folder);
            if product && is_test(&name) {
                continue;
            }
            let said = if product { statements(&text) } else { text };
            for game in &names {
                let quoted = format!("\"{game}\"");
                assert!(!said.contains(&quoted), "{name} says {quoted}");
            }
            for game in types {
                // The title of a source, not the game.
                let said = said.replace("Multiplayer Platformer Log", "");
                assert!(!said.contains(game), "{name} says {game}");
            }
        }
    }
}

/// Returns the imports of each file in a folder, by module path. The crate itself has an empty
/// path.
fn imports(folder: &str) -> BTreeMap<String, BTreeSet<String>> {
    let module = |file: &str| {
        let path = file.strip_prefix(folder).unwrap_or(file).trim_start_matches('/');
        let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
        if path == "lib" { String::new() } else { path.replace('/', "::") }
    };
    let files: BTreeMap<_, _> = sources(folder)
        .into_iter()
        .filter(|(name, _)| !is_test(name))
        .map(|(name, text)| (module(&name), statements(&text)))
        .collect();
    let known: BTreeSet<_> = files.keys().cloned().collect();
    files
        .iter()
        .map(|(file, text)| {
            let paths = paths(text).into_iter().filter_map(|path| resolve(file, &path, &known));
            (file.clone(), paths.filter(|to| to != file).collect())
        })
        .collect()
}

/// Returns all paths in a text, with braces expanded.
fn paths(text: &str) -> Vec<String> {
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut found = Vec::new();
    let mut prefixes: Vec<String> = Vec::new();
    let mut word = String::new();
    // A brace after `::` opens a list of paths with a common prefix.
    for c in text.chars() {
        match c {
            c if is_path(c) => word.push(c),
            '{' if word.ends_with("::") => {
                let outer = prefixes.last().cloned().unwrap_or_default();
                prefixes.push(outer + &word);
                word.clear();
            }
            _ => {
                if !word.is_empty() {
                    found.push(prefixes.last().cloned().unwrap_or_default() + &word);
                    word.clear();
                }
                if c == '}' {
                    prefixes.pop();
                } else if c == '{' {
                    prefixes.push(String::new());
                }
            }
        }
    }
    found
}

/// Returns the file that a path leads to.
fn resolve(from: &str, path: &str, known: &BTreeSet<String>) -> Option<String> {
    let mut parts: Vec<_> = path.split("::").filter(|part| !part.is_empty()).collect();
    let mut at: Vec<_> = from.split("::").filter(|part| !part.is_empty()).collect();
    match *parts.first()? {
        "crate" | "self" | "super" if parts.len() < 2 => return None,
        "crate" => at.clear(),
        "self" => {}
        "super" => {
            at.pop();
        }
        _ if parts.len() < 2 => return None,
        first => {
            let child = [&at[..], &[first]].concat().join("::");
            if !known.contains(&child) {
                return None;
            }
            parts.insert(0, "self");
        }
    }
    for part in &parts[1..] {
        if *part == "super" {
            at.pop();
        } else {
            at.push(part);
        }
    }
    while !at.is_empty() && !known.contains(&at.join("::")) {
        at.pop();
    }
    (!at.is_empty()).then(|| at.join("::"))
}

/// Returns an import cycle, if there is one.
fn circle(imports: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    fn visit(
        at: &str,
        imports: &BTreeMap<String, BTreeSet<String>>,
        way: &mut Vec<String>,
        done: &mut BTreeSet<String>,
    ) -> Option<Vec<String>> {
        if let Some(begin) = way.iter().position(|file| file == at) {
            return Some(way[begin..].to_vec());
        }
        if done.contains(at) {
            return None;
        }
        way.push(at.to_owned());
        let found = imports[at].iter().find_map(|to| visit(to, imports, way, done));
        way.pop();
        done.insert(at.to_owned());
        found
    }
    let mut done = BTreeSet::new();
    imports.keys().find_map(|file| visit(file, imports, &mut Vec::new(), &mut done))
}

/// Crates without import cycles, each with a minimum number of files, so that an unread folder is
/// noticed.
const ACYCLIC: [(&str, usize); 15] = [
    ("shared/netcode/src", 60),
    ("shared/quic/src", 75),
    ("shared/c/src", 10),
    ("shared/games/src", 45),
    ("shared/cli/src", 1),
    ("tests/sim/src", 5),
    ("server/src", 80),
    ("server/directory/src", 8),
    ("client/sound/src", 12),
    ("client/ui/src", 40),
    ("client/views/src", 40),
    ("client/window/src", 60),
    ("client/web/src", 4),
    ("client/bots/src", 4),
    ("client/lab/src", 50),
];

#[test]
fn no_file_is_part_of_an_import_cycle() {
    for (folder, files_min) in ACYCLIC {
        let imports = imports(folder);
        assert!(imports.len() >= files_min, "{folder} has {} files", imports.len());
        assert_eq!(circle(&imports), None, "{folder}");
    }
    let mut imports = imports("shared/netcode/src");
    assert!(imports["server::room"].contains("game"), "{:?}", imports["server::room"]);
    assert!(imports["client::output"].contains("games"), "{:?}", imports["client::output"]);
    // A cycle would be found.
    imports.get_mut("time").expect("it is there").insert("server::room".into());
    assert!(circle(&imports).is_some());
}

/// A crate's modules from the bottom up: each depends only on modules in earlier rows, and on those
/// in its own row as long as that makes no cycle.
type Levels = &'static [&'static [&'static str]];

/// Crates with levels; ARCHITECTURE.md says what each level is for.
const LEVELS: [(&str, Levels); 7] = [
    ("shared/netcode/src", ENGINE),
    ("shared/quic/src", DRIVERS),
    ("shared/c/src", C_LIBRARY),
    ("server/src", SERVER),
    ("client/ui/src", UI),
    ("client/views/src", SCREENS),
    ("client/window/src", WINDOW_MODULES),
];

const ENGINE: Levels = &[
    &[
        "limits",
        "time",
        "date",
        "random",
        "fingerprint",
        "identity",
        "address",
        "invitation",
        "filename",
        "textfile",
    ],
    &["ids", "physics", "fields", "link", "clock", "path"],
    &["rewind", "motion"],
    // A game brings the tables that its packets are coded with.
    &["wire", "game"],
    &["inputs", "interest"],
    &["snapshot", "presentation"],
    &["replay"],
    &["client", "server", "games", "seek"],
    &["playback"],
    &[""],
];

const DRIVERS: Levels = &[
    &["clock", "files", "private", "socket", "timers", "workers"],
    &["framing", "goodbye", "congestion", "settings"],
    &["doorkeeping", "web"],
    &["attempts", "conditioned", "packets", "identity", "pins", "player", "verify"],
    &["asking", "fleet", "reach"],
    &["announce", "query", "seek", "survey", "tickets"],
    &["client", "server"],
    &["local", "door"],
    &[""],
];

const C_LIBRARY: Levels = &[
    &["error", "layout", "raw"],
    &["description"],
    &["described"],
    &["play"],
    &["guest"],
    &["registry"],
    &["exports", "fuzzing"],
    &[""],
];

const SERVER: Levels = &[
    &["error", "event_log", "time", "author", "subject", "sentence", "token", "ranges", "api"],
    &[
        "data_dir",
        "writer",
        "outgoing",
        "http",
        "lifecycle",
        "signals",
        "service",
        "notify",
        "status",
        "verify",
    ],
    &["clocks", "config"],
    &["logging", "store", "worlds", "recordings", "deny", "certificate", "schedule", "games"],
    &["people", "reload"],
    &["data", "webhooks", "agones"],
    &["host"],
    &["admin", "web", "backups", "ctl"],
    &["commands", "preflight", "host_thread", "serve", "run"],
    &["", "main"],
];

const UI: Levels = &[
    &["actions", "camera", "palette", "screenshot", "color_vision", "typing", "words"],
    &["bindings", "paint", "camera_rig"],
    &["background", "brush", "controls", "explain", "layout", "letters", "parts", "ruling"],
    &["block", "gamepad", "inset", "looks", "navigate", "particles", "renderer"],
    &["cues", "glass", "look"],
    &["view"],
    &["feed", "lesson", "scoreboard"],
    &["prelude", ""],
];

const SCREENS: Levels = &[
    &["layers", "rounds"],
    &["asteroids", "platformer", "puck", "race", "skirmish"],
    &["", "sound_tests"],
];

const WINDOW_MODULES: Levels = &[
    &["eyes", "files", "marks", "meter", "records", "setup", "tell", "watch"],
    &["overlay", "play", "replay", "talk"],
    &["developer", "graph", "presentation", "registry"],
    &["online", "people", "settings"],
    &["sounds", "visit"],
    &["platform"],
    &["shell"],
    &["desktop", "page"],
    &["", "main"],
];

#[test]
fn modules_know_only_those_below_them() {
    for (folder, levels) in LEVELS {
        let level = |file: &str| {
            let module = file.split("::").next().unwrap_or_default();
            levels.iter().position(|modules| modules.contains(&module))
        };
        for (file, known) in imports(folder) {
            let own = level(&file).unwrap_or_else(|| panic!("{folder}: {file} has no level"));
            for other in known {
                let below = level(&other).expect("every file has a level");
                assert!(below <= own, "{folder}: {file} must not know {other}");
            }
        }
    }
}

#[test]
fn only_known_folders_exist() {
    for path in ["shared/netcode/WIRE.md", "shared/clippy.toml", "docker/Dockerfile"] {
        assert!(root().join(Path::new(path)).exists(), "{path} is missing");
    }
    let top = fs::read_dir(root()).expect("the root").flatten().map(|entry| entry.path());
    let folders: BTreeSet<PathBuf> = top.filter(|path| path.is_dir()).collect();
    for path in folders {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let known = [
            "client",
            "docker",
            "docs",
            "fuzz",
            "packaging",
            "server",
            "shared",
            "target",
            "tests",
        ];
        assert!(name.starts_with('.') || known.contains(&name.as_str()), "{name}/ has no place");
    }
}
