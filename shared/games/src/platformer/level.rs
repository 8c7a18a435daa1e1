//! The platformer's level: drawn in `level.txt`, one metre per character, plus a table of moving
//! platforms.

use std::sync::LazyLock;

use glam::Vec2;

use phaselock::replay::run_hash;
use phaselock::time::{Rates, Tick};

/// Seconds of the level's cycle, in which each platform goes back and forth a whole number of
/// times. Arbitrary; it has many divisors.
pub const CYCLE_SECS: u32 = 24;
/// Metres below the level's last row at which a player has fallen out of it.
const ABYSS: f32 = 3.0;

/// Kind of a square metre of the level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tile {
    /// Nothing.
    Air,
    /// Nothing can enter it.
    Solid,
    /// A board: its upper side carries players who come from above, and it is no other obstacle.
    Board,
    /// Hurts.
    Spikes,
    /// Throws up a player who falls on it.
    Spring,
}

/// A moving platform: a board that goes from `from` to `to` and back, with smooth turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Platform {
    /// Centre of its upper side at one end, in metres.
    pub from: Vec2,
    /// Centre of its upper side at the other end, in metres.
    pub to: Vec2,
    /// Half of its width in metres.
    pub half: f32,
    /// How often it goes back and forth in a cycle ([`CYCLE_SECS`]).
    pub times: u8,
    /// Its phase at the start of a cycle, in turns: 0 at `from`, 0.5 at `to`.
    pub phase: f32,
}

/// The moving platforms.
pub const PLATFORMS: [Platform; 8] = [
    // The ferries over the great pit.
    Platform::new((35.0, 16.0), (41.5, 16.0), 1.25, 5, 0.0),
    Platform::new((53.5, 16.0), (45.0, 15.0), 1.25, 4, 0.1),
    // The lift in the tower, and one outside of it for players who miss the boards.
    Platform::new((78.5, 15.75), (78.5, 9.0), 1.0, 4, 0.0),
    Platform::new((89.0, 14.5), (89.0, 9.5), 1.0, 5, 0.3),
    // Over the gap with the lifts.
    Platform::new((127.0, 15.5), (134.0, 14.5), 1.25, 4, 0.25),
    Platform::new((139.5, 15.5), (139.5, 10.5), 1.25, 5, 0.6),
    // High above it, between the islands.
    Platform::new((141.0, 7.5), (146.0, 6.5), 1.0, 6, 0.4),
    // The last step before the flag.
    Platform::new((170.5, 14.5), (170.5, 10.0), 1.0, 6, 0.5),
];

impl Platform {
    const fn new(from: (f32, f32), to: (f32, f32), half: f32, times: u8, phase: f32) -> Self {
        let (from, to) = (Vec2::new(from.0, from.1), Vec2::new(to.0, to.1));
        Self { from, to, half, times, phase }
    }

    /// Returns the centre of its upper side at a point in the level's cycle, in turns.
    pub fn at(&self, clock: f32) -> Vec2 {
        let turns = clock * f32::from(self.times) + self.phase;
        let part = 0.5 - 0.5 * libm::cosf((turns - turns.floor()) * std::f32::consts::TAU);
        self.from + (self.to - self.from) * part
    }

    /// Returns its maximum speed, in metres per second.
    pub fn speed_max(&self) -> f32 {
        let secs = CYCLE_SECS as f32 / f32::from(self.times);
        std::f32::consts::PI * self.from.distance(self.to) / secs
    }
}

/// Returns the number of ticks in a cycle.
pub fn cycle_ticks(rates: Rates) -> u64 {
    u64::from(CYCLE_SECS) * u64::from(rates.tick_hz)
}

/// Returns the point in the cycle `part` ticks after a tick, in turns: 0 to 1.
pub fn clock_at(rates: Rates, tick: Tick, part: f32) -> f32 {
    let ticks = cycle_ticks(rates);
    ((tick.0 % ticks) as f32 + part) / ticks as f32
}

/// Returns the first tick at this point in the cycle, as a field of a record holds it.
pub fn tick_of(rates: Rates, clock: f32) -> Tick {
    let ticks = cycle_ticks(rates);
    Tick((clock * ticks as f32).round() as u64 % ticks)
}

/// The only level; see [`Level::read`].
const DRAWING: &str = include_str!("level.txt");

/// The map.
#[derive(Debug)]
pub struct Level {
    /// Number of columns: metres from left to right. Everything beyond is solid.
    pub width: usize,
    /// Number of rows: metres from top to bottom. There is nothing beyond.
    pub height: usize,
    tiles: Vec<Tile>,
    /// Position of the feet at the start of a race.
    pub start: Vec2,
    /// Centres of the coins, from left to right.
    pub coins: Vec<Vec2>,
    /// Stages to which players are sent back: the start, the checkpoints, the goal. A player
    /// reaches one by being as far to the right, at any height.
    pub stages: Vec<Vec2>,
}

impl Level {
    /// Returns the only level.
    pub fn the() -> &'static Self {
        static LEVEL: LazyLock<Level> = LazyLock::new(|| Level::read(DRAWING));
        &LEVEL
    }

    /// Returns a hash of the drawing, which tells levels apart.
    pub fn hash(&self) -> u64 {
        hash_of(DRAWING)
    }

    /// Parses a drawing: `#` is solid, `-` a board, `^` spikes, `S` a spring, `o` a coin; `@` the
    /// start, `C` checkpoints and `F` the goal, each standing on what is below it.
    fn read(drawing: &str) -> Self {
        let rows: Vec<&[u8]> = drawing.lines().map(str::as_bytes).collect();
        let (width, height) = (rows.first().map_or(0, |row| row.len()), rows.len());
        let mut tiles = Vec::with_capacity(width * height);
        let (mut coins, mut stages) = (Vec::new(), Vec::new());
        for (row, y) in rows.iter().zip(0..) {
            for (letter, x) in row.iter().zip(0..) {
                let (x, y) = (x as f32 + 0.5, y as f32);
                tiles.push(match letter {
                    b'#' => Tile::Solid,
                    b'-' => Tile::Board,
                    b'^' => Tile::Spikes,
                    b'S' => Tile::Spring,
                    _ => Tile::Air,
                });
                match letter {
                    b'o' => coins.push(Vec2::new(x, y + 0.5)),
                    b'@' | b'C' | b'F' => stages.push(Vec2::new(x, y + 1.0)),
                    _ => {}
                }
            }
        }
        let by_x = |a: &Vec2, b: &Vec2| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y));
        coins.sort_by(by_x);
        stages.sort_by(by_x);
        let start = stages.first().copied().unwrap_or(Vec2::ZERO);
        Self { width, height, tiles, start, coins, stages }
    }

    /// Returns the tile in a column and a row.
    pub fn tile(&self, column: i32, row: i32) -> Tile {
        let (Ok(x), Ok(y)) = (usize::try_from(column), usize::try_from(row)) else {
            return if column < 0 { Tile::Solid } else { Tile::Air };
        };
        match (x < self.width, y < self.height) {
            (false, _) => Tile::Solid,
            (true, false) => Tile::Air,
            (true, true) => self.tiles[y * self.width + x],
        }
    }

    /// Whether a tile is solid.
    pub fn is_solid(&self, column: i32, row: i32) -> bool {
        self.tile(column, row) == Tile::Solid
    }

    /// Whether the upper side of a tile carries players.
    pub fn carries(&self, column: i32, row: i32) -> bool {
        matches!(self.tile(column, row), Tile::Solid | Tile::Board)
    }

    /// Returns the number of the last stage, the goal.
    pub fn goal(&self) -> u8 {
        self.stages.len().saturating_sub(1) as u8
    }

    /// Returns the height at which a player has fallen out of the level, in metres from its upper
    /// edge.
    pub fn abyss(&self) -> f32 {
        self.height as f32 + ABYSS
    }

    /// Returns the fraction of the way from the start to the goal, 0 to 1.
    pub fn progress(&self, x: f32) -> f32 {
        let goal = self.stages.last().map_or(1.0, |goal| goal.x);
        ((x - self.start.x) / (goal - self.start.x)).clamp(0.0, 1.0)
    }
}

/// Returns the hash of a drawing. LF and CRLF, which editors and Git may write on Windows, give the
/// same hash, since records of the level belong to it.
fn hash_of(drawing: &str) -> u64 {
    run_hash(drawing.replace("\r\n", "\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::entities::{COINS_MAX, POSITION_X, POSITION_Y};
    use super::*;
    use phaselock::fields::Field;

    #[test]
    fn the_drawing_is_whole_and_fits_the_fields() {
        let level = Level::the();
        assert!(level.width >= 100 && level.width <= 200, "{} m", level.width);
        assert_eq!(level.tiles.len(), level.width * level.height, "every row is as long");
        assert!(level.coins.len() > 30 && level.coins.len() <= COINS_MAX, "{}", level.coins.len());
        assert!(level.stages.len() >= 5 && level.stages.len() <= 16);
        for stage in &level.stages {
            let (column, row) = (stage.x as i32, stage.y as i32);
            assert!(level.carries(column, row), "nothing to stand on at {stage}");
            assert!((1..3).all(|up| level.tile(column, row - up) == Tile::Air), "{stage}");
        }
        let holds = |field: Field, value: f32| field.unpack(field.pack(value)) == f64::from(value);
        assert!(holds(POSITION_X, level.width as f32) && holds(POSITION_Y, level.abyss() + 4.0));
    }

    #[test]
    fn the_level_is_told_apart_by_its_drawing_and_not_by_line_ends() {
        let drawing = DRAWING.replace("\r\n", "\n");
        let (hash, crlf) = (run_hash(drawing.as_bytes()), drawing.replace('\n', "\r\n"));
        assert_ne!(drawing, crlf);
        assert_eq!([hash_of(&crlf), Level::the().hash()], [hash; 2]);
        assert_ne!(hash_of(&drawing.replacen('o', " ", 1)), hash, "without a coin");
        let (level, same) = (Level::read(&drawing), Level::read(&crlf));
        assert_eq!((level.tiles, level.coins), (same.tiles, same.coins));
    }

    #[test]
    fn platforms_move_softly_and_come_back() {
        for platform in PLATFORMS {
            let step = 1.0 / 4096.0;
            let most = platform.speed_max() * CYCLE_SECS as f32 * step;
            for n in 0..4096 {
                let (a, b) = (platform.at(n as f32 * step), platform.at((n + 1) as f32 * step));
                assert!(a.distance(b) <= most * 1.01 + 1e-4, "{platform:?} at {n}");
            }
            assert!(platform.at(0.0).distance(platform.at(1.0)) < 1e-4);
            assert!(platform.speed_max() < 6.0, "{} m/s", platform.speed_max());
        }
    }

    #[test]
    fn clocks_tell_ticks_at_every_rate() {
        for tick_hz in [10, 30, 60, 64, 128] {
            let rates = Rates { tick_hz, snapshot_hz: tick_hz / 2 };
            for tick in (0..cycle_ticks(rates)).map(Tick) {
                let clock = super::super::entities::CLOCK;
                let told = clock.unpack(clock.pack(clock_at(rates, tick, 0.0))) as f32;
                assert_eq!(tick_of(rates, told), tick);
            }
        }
    }
}
