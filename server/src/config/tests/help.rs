//! The help and its defaults.

use std::path::Path;

use super::*;

#[test]
fn the_help_knows_every_setting_and_its_default() {
    let mut command = command_line();
    command.clone().debug_assert();
    let help = command.render_long_help().to_string();
    for setting in settings() {
        let default = setting.default_text();
        let flag = format!("--{}", setting.flag);
        let starts = [" <", "[=<"].map(|end| format!("{flag}{end}"));
        let of_flag = starts.iter().find_map(|start| help.split_once(start));
        let of_flag = of_flag.map(|(_, rest)| rest.split("\n      --").next().unwrap_or(rest));
        assert!(
            of_flag.is_some_and(|text| text.contains(&format!("[default: {default}"))),
            "{flag}: {default}\n{help}"
        );
    }
}

#[test]
fn defaults_in_words_have_the_numbers_that_apply() {
    let text = |flag| settings().find(|it| it.flag == flag).expect("a setting").default_text();
    let rewind_ms = Rewind::DEFAULT.most.0 / 1000;
    assert_eq!(text("rewind-ms"), format!("the game's, {rewind_ms}"));
    let Config { play, joining, .. } = Config::default();
    assert_eq!(text("snapshot-hz"), format!("{}, or the nearest divisor", play.snapshot_hz));
    assert_eq!(text("listen"), format!("{}, IPv4 included", joining.listen[0]));
}

/// Reads a file of the workspace, by its path from there. Returns `None` in the published crate,
/// which has no such files; Cargo adds `Cargo.toml.orig` to every package.
fn document(path: &str) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_published = root.join("Cargo.toml.orig").exists();
    (!is_published).then(|| fs::read_to_string(root.join("..").join(path)).expect("the document"))
}

#[test]
fn the_manual_has_the_table_of_all_settings() {
    let Some(manual) = document("docs/hosting/settings.md") else { return };
    let row = |it: &Setting<Config>| {
        let effect = if it.restart.is_some() { "after a restart" } else { "on reload" };
        let (flag, variable, default) = (it.flag, it.variable(), it.default_text());
        let scoped = if it.is_of_room { " yes |" } else { " |" };
        format!("| `--{flag}` | `{variable}` | {default} | {effect} |{scoped}")
    };
    let rows: Vec<_> = settings().map(row).collect();
    let names = "| flag | environment | default | takes effect | per game and room |";
    let head = format!("{names}\n|---|---|---|---|---|");
    let table = format!("{head}\n{}\n\n", rows.join("\n"));
    let text = manual.split_once(&table).map(|(_, text)| text);
    let text = text.unwrap_or_else(|| panic!("the table in settings.md has to be:\n{table}"));
    for setting in settings() {
        let flag = format!("`{}`", setting.flag);
        assert!(text.contains(&flag), "settings.md says nothing about {flag}");
    }
}

#[test]
fn the_container_passes_every_setting_on() {
    let Some(compose) = document("docker/compose.yaml") else { return };
    // Ports are published and the volume is mounted where these are by default.
    for setting in settings().filter(|it| !["listen", "data-dir"].contains(&it.flag)) {
        let variable = setting.variable();
        let line = format!("\n      {variable}: ${{{variable}:-");
        assert!(compose.contains(&line), "docker/compose.yaml lacks {variable}");
    }
}
