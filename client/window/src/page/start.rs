//! The page's canvas.

use std::path::PathBuf;
use std::process::ExitCode;

use macroquad::Window;
use macroquad::miniquad::conf::Conf;
use phaselock_web::page;

use super::lobby::PageLobby;
use super::machine::Page;
use crate::registry::Views;
use crate::settings::Store;
use crate::settings::languages::Languages;
use crate::shell::{Opening, Shell};

/// Opens the page's canvas, which then draws frames for as long as the page exists.
pub fn run(views: &Views) -> ExitCode {
    let views = views.clone();
    let conf = Conf { window_title: "Phaselock".into(), high_dpi: true, ..Conf::default() };
    Window::from_config(conf, async move {
        let store = Store::open(Some(PathBuf::from("settings.toml")));
        let lobby = PageLobby::new(&store.settings, &views);
        let languages = Languages::new(page::language().unwrap_or_default());
        let opening = Opening { views, store, languages, fullscreen: false, mute: false };
        // A page has no command line for errors.
        let _ = Shell::new(Page::new(), lobby, opening).frames().await;
    });
    ExitCode::SUCCESS
}
