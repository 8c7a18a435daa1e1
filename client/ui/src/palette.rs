//! All colours.
//!
//! Sky blue and orange, for one's own side and the others, are from Okabe and Ito's set, which
//! people with any kind of colour blindness can tell apart; even so, colour is never the only sign
//! of anything. The inside of a player is darker than its outline.

#![expect(missing_docs, reason = "the names say which things have the colours")]

use egui_macroquad::egui::Color32;

pub const VOID: Color32 = Color32::from_rgb(8, 10, 15);
pub const FLOOR: Color32 = Color32::from_rgb(25, 32, 45);
pub const VOID_GRID: Color32 = Color32::from_rgb(17, 22, 32);
/// Lines on the floor, a metre apart.
pub const GRID: Color32 = Color32::from_rgb(31, 39, 54);
/// Lines on the floor, five metres apart.
pub const GRID_MAJOR: Color32 = Color32::from_rgb(39, 49, 68);
pub const MARKING: Color32 = Color32::from_rgb(47, 62, 87);
/// Sides of a wall that face up or down in the picture.
pub const WALL_SIDE: Color32 = Color32::from_rgb(43, 54, 75);
pub const WALL_SIDE_DARK: Color32 = Color32::from_rgb(35, 45, 63);
pub const WALL_TOP: Color32 = Color32::from_rgb(66, 81, 109);
pub const WALL_RIM: Color32 = Color32::from_rgb(104, 124, 160);

/// The player at this window, and selected controls.
pub const OWN: Color32 = Color32::from_rgb(86, 180, 233);
pub const OWN_DARK: Color32 = Color32::from_rgb(20, 58, 84);
pub const FOE: Color32 = Color32::from_rgb(238, 160, 52);
pub const FOE_DARK: Color32 = Color32::from_rgb(88, 52, 18);
/// Colour of one's own player or side, or of the others.
pub fn side(own: bool) -> Color32 {
    if own { OWN } else { FOE }
}

/// Colours that players can choose: bright, and always accompanied by names and markings.
const PLAYERS: [Color32; 12] = [
    Color32::from_rgb(86, 180, 233),
    Color32::from_rgb(238, 160, 52),
    Color32::from_rgb(62, 207, 160),
    Color32::from_rgb(240, 228, 66),
    Color32::from_rgb(232, 134, 186),
    Color32::from_rgb(255, 110, 90),
    Color32::from_rgb(164, 148, 255),
    Color32::from_rgb(160, 222, 92),
    Color32::from_rgb(226, 232, 240),
    Color32::from_rgb(72, 216, 226),
    Color32::from_rgb(206, 158, 112),
    Color32::from_rgb(240, 110, 230),
];

/// Colour with this index.
pub fn player_color(index: u8) -> Color32 {
    PLAYERS[usize::from(index) % PLAYERS.len()]
}

/// Colour for the inside of an outline in the colour with this index.
pub fn player_dark(index: u8) -> Color32 {
    player_color(index).lerp_to_gamma(VOID, 0.68)
}

pub fn side_dark(own: bool) -> Color32 {
    if own { OWN_DARK } else { FOE_DARK }
}

/// Rifles, and other metal.
pub const STEEL: Color32 = Color32::from_rgb(188, 200, 218);

pub const CRATE: Color32 = Color32::from_rgb(104, 86, 66);
pub const CRATE_EDGE: Color32 = Color32::from_rgb(146, 122, 94);
/// Barrels, which also have stripes.
pub const BARREL: Color32 = Color32::from_rgb(116, 50, 48);

pub const GOOD: Color32 = Color32::from_rgb(62, 207, 160);
pub const WARN: Color32 = Color32::from_rgb(240, 200, 80);
/// An error, or damage.
pub const BAD: Color32 = Color32::from_rgb(255, 96, 92);

/// Medals.
pub const GOLD: Color32 = Color32::from_rgb(236, 194, 74);
pub const SILVER: Color32 = Color32::from_rgb(190, 200, 214);
pub const BRONZE: Color32 = Color32::from_rgb(196, 128, 78);

pub const TEXT: Color32 = Color32::from_rgb(233, 239, 248);
pub const TEXT_SOFT: Color32 = Color32::from_rgb(160, 173, 194);
pub const TEXT_FAINT: Color32 = Color32::from_rgb(106, 120, 144);

/// Panels behind text over the world.
pub const PANEL: Color32 = Color32::from_rgb(14, 18, 27);
pub const CARD: Color32 = Color32::from_rgb(17, 22, 32);
pub const EDGE: Color32 = Color32::from_rgb(41, 52, 71);
pub const FIELD: Color32 = Color32::from_rgb(10, 13, 19);
pub const BUTTON: Color32 = Color32::from_rgb(32, 41, 57);
pub const BUTTON_HOT: Color32 = Color32::from_rgb(45, 57, 79);

pub const GRASS: Color32 = Color32::from_rgb(29, 52, 40);
pub const GRASS_STRIPE: Color32 = Color32::from_rgb(32, 58, 44);
pub const GRASS_TUFT: Color32 = Color32::from_rgb(48, 82, 58);
pub const EARTH: Color32 = Color32::from_rgb(84, 72, 54);
pub const ASPHALT: Color32 = Color32::from_rgb(50, 54, 64);
pub const ASPHALT_LIGHT: Color32 = Color32::from_rgb(122, 132, 150);
pub const RUBBER: Color32 = Color32::from_rgb(14, 15, 19);
/// Red kerbs, between white ones.
pub const KERB: Color32 = Color32::from_rgb(196, 62, 60);
