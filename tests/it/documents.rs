//! Documents are correct: links resolve, and names are those of the code.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use phaselock::limits::CLIENT_BYTES_DEFAULT;
use phaselock::link::{Conditions, PROFILES};
use phaselock::motion::{Choice, Timeline};
use phaselock::server::RoomConfig;
use phaselock_quic::doorkeeping::{Doorkeeping, Limit};

use crate::tidy::{code, root, sources};

/// Pages outside of `docs/`, by their paths from the root.
const PAGES: [&str; 20] = [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "server/HOSTING.md",
    "docker/agones/SCALE.md",
    "client/lab/README.md",
    "shared/c/README.md",
    "shared/netcode/README.md",
    "shared/netcode/REPLAY.md",
    "shared/netcode/WIRE.md",
    "shared/netcode/vectors/README.md",
    "tests/FIGURES.md",
    "tests/bevy/README.md",
    "tests/foreign/README.md",
    "tests/python/README.md",
    "tests/peers/README.md",
    "LICENSE-MIT",
];

/// READMEs that crates.io shows, by their paths from the root. The book has the pages to which they
/// lead instead.
const CRATE_PAGES: [&str; 12] = [
    "client/bots/README.md",
    "client/sound/README.md",
    "client/ui/README.md",
    "client/views/README.md",
    "client/web/README.md",
    "client/window/README.md",
    "server/README.md",
    "server/directory/README.md",
    "shared/cli/README.md",
    "shared/games/README.md",
    "shared/quic/README.md",
    "tests/sim/README.md",
];

/// Every page, by its path from the root.
pub(super) fn pages() -> Vec<String> {
    let mut found: Vec<_> = PAGES.iter().chain(&CRATE_PAGES).map(|&it| it.to_owned()).collect();
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).expect("a folder").flatten() {
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path.display().to_string().replace('\\', "/"));
            }
        }
    }
    found
}

fn page(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the targets of a page's links.
fn links(text: &str) -> Vec<String> {
    let ends = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    ends.map(str::to_owned).collect()
}

/// Returns the anchors of a page's headings, as code hosting sites generate them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

#[test]
fn the_readme_is_short() {
    let lines = page("README.md").lines().count();
    assert!(lines <= 150, "README.md has {lines} lines");
}

#[test]
fn links_lead_somewhere() {
    let mut followed = 0;
    for path in pages() {
        let folder = Path::new(&path).parent().unwrap_or(Path::new("")).to_owned();
        for link in links(&page(&path)) {
            if link.contains("://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target: PathBuf =
                if file.is_empty() { path.clone().into() } else { folder.join(file) };
            assert!(root().join(&target).exists(), "{path} links to {link}");
            if !anchor.is_empty() {
                let text = fs::read_to_string(root().join(&target)).expect("a page");
                assert!(anchors(&text).contains(anchor), "{path} links to {link}");
            }
            followed += 1;
        }
    }
    assert!(followed > 20, "links were not found");
}

/// Returns the target of a link in a page of `docs/`, as a path from the root.
fn from_docs(link: &str) -> String {
    link.strip_prefix("../").map_or_else(|| format!("docs/{link}"), str::to_owned)
}

#[test]
fn the_book_has_every_page_once() {
    const OUTSIDE: [&str; 3] = ["LICENSE-MIT", "docs/SUMMARY.md", "tests/foreign/README.md"];
    let summary = links(&page("docs/SUMMARY.md"));
    let listed: BTreeSet<_> = summary.iter().map(|link| from_docs(link)).collect();
    assert_eq!(listed.len(), summary.len(), "docs/SUMMARY.md lists a page twice");
    let is_outside = |path: &str| OUTSIDE.contains(&path) || CRATE_PAGES.contains(&path);
    for path in pages().iter().filter(|path| !is_outside(path)) {
        assert!(listed.contains(path), "docs/SUMMARY.md lacks {path}");
    }
}

#[test]
fn pages_know_all_networks_methods_and_games() {
    let playing = page("docs/playing/network.md");
    for (name, _) in PROFILES {
        assert!(playing.contains(&format!("`{name}`")), "network.md does not know {name}");
    }
    let rows = table(&playing, "| shown |");
    for (kind, timeline) in [("in the past", Timeline::Past), ("at the present", Timeline::Present)]
    {
        let row = rows.iter().find(|row| row[0] == kind).expect("a row");
        let stated = row[1].split(", ").map(|name| name.trim_matches('`'));
        let methods = Choice::ALL.iter().filter(|method| method.timeline() == timeline);
        let names: BTreeSet<_> = methods.map(|method| method.name()).collect();
        assert_eq!(stated.collect::<BTreeSet<_>>(), names, "{kind}");
    }
    for path in ["README.md", "docs/playing/start.md"] {
        let text = page(path).to_lowercase();
        for game in phaselock_games::all().names() {
            assert!(text.contains(game), "{path} does not know {game}");
        }
    }
}

#[test]
fn commands_of_the_figures_exist() {
    let figures = page("tests/FIGURES.md");
    let manifest = page("tests/Cargo.toml") + &page("client/views/Cargo.toml");
    let named = |flag: &str| {
        let flag = format!("{flag} ");
        let parts = figures.split(&flag).skip(1);
        let words = parts.filter_map(|rest| rest.split([' ', '`', '\n', ')']).next());
        words.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let benches = named("--bench");
    assert!(benches.len() >= 4, "{benches:?}");
    for name in benches.iter().chain(&named("--test")) {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "FIGURES.md runs {name}");
    }
}

#[test]
fn the_map_has_every_crate_and_every_room() {
    let map = page("ARCHITECTURE.md");
    let workspace = page("Cargo.toml");
    let members = workspace.split_once("members = [").and_then(|(_, rest)| rest.split_once(']'));
    let (members, _) = members.expect("a workspace has members");
    for folder in members.split('"').skip(1).step_by(2) {
        assert!(map.contains(&format!("`{folder}/`")), "ARCHITECTURE.md lacks {folder}/");
    }
    let engine = page("shared/netcode/src/lib.rs");
    for room in engine.lines().filter_map(|line| line.strip_prefix("pub mod ")) {
        let room = room.trim_end_matches(';');
        let known = [format!("`{room}`"), format!("`{room}/`"), format!("`{room}.rs`")];
        assert!(known.iter().any(|name| map.contains(name)), "ARCHITECTURE.md lacks {room}");
    }
}

#[test]
fn the_guide_leads_through_the_game_as_it_stands() {
    let pages = page("shared/netcode/README.md") + &page("README.md");
    let mut shown = 0;
    for block in pages.split("\n```").filter(|block| block.contains(" tag:")) {
        let (fence, code) = block.split_once('\n').expect("a block has lines");
        let (_, file) = fence.split_once(" tag:").expect("and names its file");
        let source = page(&format!("tests/foreign/{file}"));
        let mut rest = source.as_str();
        for part in code.split("// ...\n") {
            let part = part.trim_end();
            let at = rest.find(part).unwrap_or_else(|| panic!("{file} has no\n{part}"));
            rest = &rest[at + part.len()..];
            shown += 1;
        }
    }
    assert!(shown > 15, "the blocks were not found: {shown}");
}

/// Returns the rows of the table below this head, as trimmed cells.
fn table(page: &str, head: &str) -> Vec<Vec<String>> {
    let lines = page.lines().skip_while(|line| !line.starts_with(head)).skip(2);
    let rows = lines.take_while(|line| line.starts_with('|'));
    let cells =
        |row: &str| row.trim_matches('|').split('|').map(|it| it.trim().to_owned()).collect();
    rows.map(cells).collect()
}

/// What a table follows from.
enum Source {
    /// The code: this test compares them.
    Test(&'static str),
    /// Facts that the code does not have.
    Facts(&'static str),
}

/// Every table of the players' manual: page, head, and where its rows come from.
const TABLES: [(&str, &str, Source); 20] = [
    ("README.md", "| I want to |", Source::Test("the_players_manual_lists_its_pages")),
    (
        "browser.md",
        "| client |",
        Source::Facts("browsers and programs of others, on the day they were tried"),
    ),
    ("browser.md", "| in the link |", Source::Test("the_manual_has_every_part_of_a_pages_link")),
    ("chat.md", "| key |", Source::Test("manual_has_the_keys_of_watchers")),
    (
        "comparison.md",
        "| | feature |",
        Source::Facts("facts about other clients, with their sources"),
    ),
    ("comparison.md", "| | sources, by number |", Source::Facts("links to the sources of others")),
    ("controls.md", "| key |", Source::Test("manual_has_the_keys_of_every_game")),
    (
        "controls.md",
        "| game |",
        Source::Test("the_manual_has_every_game_and_every_list_of_servers"),
    ),
    ("controls.md", "| device |", Source::Test("manual_has_the_names_of_all_bindings")),
    ("network.md", "| property |", Source::Test("the_manual_has_every_property_of_a_network")),
    ("network.md", "| shown |", Source::Test("pages_know_all_networks_methods_and_games")),
    (
        "network.md",
        "| mark |",
        Source::Facts("shapes in a picture, which have no names in the code"),
    ),
    ("recording.md", "| option |", Source::Test("manual_has_every_option")),
    ("reference.md", "| command |", Source::Test("reference_has_every_command_and_every_option")),
    ("reference.md", "| option |", Source::Test("reference_has_every_command_and_every_option")),
    (
        "reference.md",
        "| section |",
        Source::Test("page_for_players_lists_every_setting_and_every_action_of_all_games"),
    ),
    (
        "reference.md",
        "| action of all games |",
        Source::Test("page_for_players_lists_every_setting_and_every_action_of_all_games"),
    ),
    ("reference.md", "| action of a game |", Source::Test("page_for_players_lists_every_action")),
    ("replays.md", "| key |", Source::Test("manual_has_the_keys_of_the_bar")),
    ("start.md", "| tab |", Source::Test("the_manual_has_every_game_and_every_list_of_servers")),
];

#[test]
fn every_table_for_players_is_compared_or_says_why_not() {
    let mut found = BTreeSet::new();
    for path in pages() {
        let Some(name) = path.strip_prefix("docs/playing/") else { continue };
        let text = page(&path);
        let lines: Vec<_> = text.lines().collect();
        for rows in lines.windows(2).filter(|rows| rows[1].starts_with("|---")) {
            let known =
                TABLES.iter().find(|(page, head, _)| *page == name && rows[0].starts_with(head));
            let known = known.unwrap_or_else(|| panic!("{path}: compare this table: {}", rows[0]));
            found.insert((known.0, known.1));
        }
    }
    assert_eq!(found.len(), TABLES.len(), "a table is gone: {found:?}");
    let folders = ["tests/it", "client", "shared", "server"];
    let code: String = folders.iter().flat_map(|it| sources(it)).map(|(_, text)| text).collect();
    for (page, head, source) in &TABLES {
        match source {
            Source::Test(name) => {
                let is_there = code.contains(&format!("#[test]\nfn {name}()"))
                    || code.contains(&format!("#[test]\n    fn {name}()"));
                assert!(is_there, "{page}, {head}: there is no test {name}");
            }
            Source::Facts(why) => assert!(!why.is_empty(), "{page}, {head}: say why"),
        }
    }
}

#[test]
fn the_players_manual_lists_its_pages() {
    let rows = table(&page("docs/playing/README.md"), "| I want to |");
    let listed: BTreeSet<_> = rows.iter().flat_map(|row| links(&row[1])).collect();
    let own = pages().into_iter().filter_map(|it| Some(it.strip_prefix("docs/playing/")?.into()));
    let own: BTreeSet<String> = own.filter(|name| name != "README.md").collect();
    assert_eq!(listed, own);
}

#[test]
fn the_manual_has_every_game_and_every_list_of_servers() {
    let rows = table(&page("docs/playing/controls.md"), "| game |");
    let stated: Vec<_> = rows.iter().map(|row| row[0].trim_matches('`')).collect();
    assert_eq!(stated, phaselock_games::all().names().collect::<Vec<_>>());
    let rows = table(&page("docs/playing/start.md"), "| tab |");
    let stated: Vec<_> = rows.iter().map(|row| row[0].trim_matches('*')).collect();
    let screen = page("client/window/src/desktop/servers/screen.rs");
    let titles = screen.lines().filter_map(|line| line.trim().strip_prefix("Tab::"));
    let titles = titles.filter_map(|line| line.split_once("=> tr(\"")?.1.split('"').next());
    assert_eq!(stated, titles.collect::<Vec<_>>());
}

#[test]
fn the_manual_has_every_part_of_a_pages_link() {
    let rows = table(&page("docs/playing/browser.md"), "| in the link |");
    let stated = rows.iter().filter_map(|row| Some(row[0].trim_matches('`').split_once('=')?.0));
    let lobby = page("client/window/src/page/lobby.rs");
    let script = page("client/web/page/play.js");
    let asked = lobby.split("page::linked(").chain(script.split("link.get(")).skip(1);
    let asked = asked.filter_map(|rest| rest.strip_prefix('"')?.split('"').next());
    assert_eq!(stated.collect::<BTreeSet<_>>(), asked.collect::<BTreeSet<_>>());
}

#[test]
fn the_manual_has_every_property_of_a_network() {
    let rows = table(&page("docs/playing/network.md"), "| property |");
    // The source's own table has the same properties and defaults, with more to say about some.
    let source = page("shared/netcode/src/link/conditions.rs").replace("/// |", "|");
    let mut declared = table(&source, "| property |");
    declared.iter_mut().zip(&rows).for_each(|(source, row)| source[1].clone_from(&row[1]));
    assert_eq!(rows, declared);
    // An unknown property is answered with all that there are.
    let known = "nonesuch".parse::<Conditions>().expect_err("no such property").to_string();
    let mut named = BTreeSet::new();
    for property in rows.iter().flat_map(|row| row[0].split(", ")).map(|it| it.trim_matches('`')) {
        let Some((name, _)) = property.split_once('=') else { continue };
        let needs = if name.ends_with("-loss") { "loss=5%,burst=3," } else { "" };
        let read = format!("{needs}{property}").parse::<Conditions>();
        assert!(read.is_ok(), "{property}: {read:?}");
        assert!(known.contains(&format!(" {name}=")), "{known}");
        named.insert(name);
    }
    assert_eq!(named.len(), known.matches('=').count(), "{known}");
}

#[test]
fn the_manual_has_every_alarm_and_no_other() {
    let rules = page("docker/watch/alerts.yml");
    let raised: BTreeSet<_> =
        rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    let rows = table(&page("docs/hosting/watch.md"), "| alarm |");
    let stated = rows.iter().flat_map(|row| row[0].split(", ").map(|name| name.trim_matches('`')));
    assert_eq!(stated.collect::<BTreeSet<_>>(), raised);
}

#[test]
fn the_guides_limits_are_the_defaults() {
    let rows = table(&page("shared/netcode/README.md"), "| limit | default |");
    let stated = |setter: &str| {
        let row = rows.iter().find(|row| row[2].contains(setter));
        row.unwrap_or_else(|| panic!("the guide has no limit set by {setter}"))[1].clone()
    };
    let (room, door) = (RoomConfig::default(), Doorkeeping::default());
    let with_commas = format!("{},{:03}", CLIENT_BYTES_DEFAULT / 1000, CLIENT_BYTES_DEFAULT % 1000);
    assert_eq!(stated("RoomSettings::players_max"), room.settings.players_max.to_string());
    assert_eq!(stated("RoomSettings::client_bytes_per_second"), with_commas);
    assert_eq!(room.settings.client_bytes_per_second, CLIENT_BYTES_DEFAULT);
    assert_eq!(stated("Doorkeeping::seats_per_address"), door.seats_per_address.to_string());
    for (setter, limits) in [("handshakes", door.handshakes), ("hellos", door.hellos)] {
        let Limit { burst, per_minute } = limits.address;
        let limit = format!("{burst} at once, {per_minute} a minute");
        assert_eq!(stated(&format!("Doorkeeping::{setter}")), limit);
    }
}

/// Returns the arguments of each call that logs at `info` or above, in a source without its tests.
fn log_calls(text: &str) -> Vec<&str> {
    let code = code(text);
    let levels = ["info", "warn", "error"].map(|level| format!("tracing::{level}!("));
    levels.iter().flat_map(|start| code.split(start.as_str()).skip(1)).collect()
}

/// Returns the name that a call gives its event.
fn event_name(arguments: &str) -> Option<&str> {
    let name = arguments.trim_start().strip_prefix("name: \"")?;
    name.split_once("\",").map(|(name, _)| name)
}

#[test]
fn each_call_names_its_event_and_the_manual_lists_all_names() {
    // Written without a call, once there is space again.
    let mut used = BTreeSet::from(["log_dropped".to_owned()]);
    let folders = ["server/src", "shared/netcode/src", "shared/quic/src"];
    let files = folders.iter().flat_map(|folder| sources(folder));
    for (file, text) in files.filter(|(file, _)| !file.ends_with("tests.rs")) {
        for call in log_calls(&text) {
            let name = event_name(call).unwrap_or_else(|| {
                let call: String = call.chars().take(80).collect();
                panic!("{file}: no `name:` in {call}")
            });
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(name.chars().all(plain), "{file}: {name:?}");
            used.insert(name.to_owned());
        }
    }
    let manual = page("docs/hosting/reference.md");
    let (_, list) = manual.split_once("lines at `debug` have none:").expect("the list");
    let (list, _) = list.split_once("\n\n").expect("the list ends");
    let listed: BTreeSet<_> = list.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    assert_eq!(used, listed);
}

#[test]
fn manual_has_every_option() {
    let page = page("docs/playing/recording.md");
    let mut stated: Vec<_> = table(&page, "| option |")
        .iter()
        .filter_map(|row| row[0].split('`').nth(1).map(str::to_owned))
        .collect();
    let command = phaselock_bots::command();
    let mut options: Vec<_> = command
        .get_arguments()
        .filter_map(|arg| {
            let names = arg.get_value_names().filter(|_| arg.get_action().takes_values());
            let value = names.map_or(String::new(), |names| format!(" {}", names[0]));
            Some(format!("--{}{value}", arg.get_long()?))
        })
        .collect();
    stated.sort_unstable();
    options.sort_unstable();
    assert_eq!(stated, options);
    let count = command.get_arguments().find(|arg| arg.get_id() == "count").expect("an option");
    let help = count.get_help().expect("it has help").to_string();
    let range = help.strip_prefix("Number of clients, ").expect("the help has the range");
    assert!(page.contains(&format!("| clients, {range}; by default 8 |")), "{range}");
    let most = range.strip_prefix("1 to ").and_then(|most| most.parse::<u32>().ok());
    let most = most.expect("the range has a maximum");
    let accepts = |count: u32| {
        let words = ["phaselock-bots", "example.org", "--count", &count.to_string()];
        command.clone().try_get_matches_from(words).is_ok()
    };
    assert_eq!([1, most, 0, most + 1].map(accepts), [true, true, false, false]);
}
