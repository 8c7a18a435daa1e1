//! A game on a line: walkers, a sign that nobody owns, a request and an event.

use std::ffi::{CString, c_void};
use std::ptr::null;

use phaselock::game::{
    Ahead, Entities, Game, Inputs, Kit, Request, World, apply_request, write_message,
};
use phaselock::games::Games;
use phaselock::ids::{EntityId, PlayerId};
use phaselock::time::Rates;
use phaselock::wire::description::Description;
use phaselock_c::exports::{phaselock_connect, phaselock_error_detail, phaselock_load_game};
use phaselock_c::layout::{JoinOptions, PHASELOCK_ABI, Predict};
use phaselock_quic::local::LocalServer;
use serde::{Deserialize, Serialize};

phaselock::record! {
    /// Input.
    pub struct Walk {
        /// Left or right.
        pub right: i16 = Field::range(-1, 1, 0),
    }
}
phaselock::record! {
    /// What nobody owns.
    pub struct Sign {
        /// Place.
        pub x: f32 = Field::centred(16, 8),
    }
}
phaselock::record! {
    /// A player.
    pub struct Walker {
        /// Metres.
        pub x: f32 = Field::centred(16, 8),
        /// What only the server counts.
        pub steps: u32 = Field::count(16).server_only(),
    }
}
phaselock::entities! {
    /// All kinds.
    pub enum Piece { Sign, Walker }
}

/// Metres per second.
pub(crate) const SPEED: f32 = 3.0;

/// The request: passes a word on to all.
#[derive(Serialize, Deserialize)]
pub(crate) struct Call(pub(crate) String);

impl Request<Line> for Call {
    fn apply(self, _: &Line, world: &mut World<Line>, _: PlayerId) {
        let _ = world.emit(None, &self.0);
    }
}

/// The rules.
#[derive(Debug)]
pub(crate) struct Line(f32);

impl Line {
    fn walk(&self, walker: &mut Walker, input: Walk) {
        walker.x += f32::from(input.right) * SPEED * self.0;
    }
}

impl Game for Line {
    const NAME: &'static str = "line";
    const RULES_VERSION: u32 = 1;
    const KIT: Kit<Self> = Kit { request: apply_request::<Self, Call>, ..Kit::NONE };
    type Input = Walk;
    type Entity = Piece;
    type Memory = ();

    fn new(rates: Rates, _: u64) -> Self {
        Self(rates.step_secs())
    }

    fn populate(&self, world: &mut World<Self>) {
        world.spawn(None, Sign { x: -7.5 }.into());
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        world.spawn(Some(player), Walker::default().into());
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Walk>) {
        for (_, owner, walker) in world.entities.records_mut::<Walker>() {
            let input = owner.map(|it| inputs.get(it)).unwrap_or_default();
            self.walk(walker, input);
            walker.steps += u32::from(input.right != 0);
        }
    }

    fn predict(&self, all: &mut Entities<Piece>, own: EntityId, input: &Walk, _: Ahead<'_>) {
        if let Some(walker) = all.record_mut(own) {
            self.walk(walker, *input);
        }
    }

    fn repeat(last: &Walk, _: u64) -> Walk {
        *last
    }
}

/// Starts a server of the game.
pub(crate) fn serve() -> LocalServer {
    LocalServer::start(Games::new().with::<Line>(), 0).expect("a socket on loopback")
}

/// Returns the game's description, as a server prints it.
pub(crate) fn description() -> String {
    serde_json::to_string(&Description::of::<Line>()).expect("JSON")
}

/// Loads a description.
pub(crate) fn load(text: &str) -> Result<u64, (i32, String)> {
    let mut game = 1;
    // SAFETY: text and length belong together.
    let result = unsafe { phaselock_load_game(text.as_ptr().cast(), text.len(), &raw mut game) };
    if result < 0 { Err((result, detail())) } else { Ok(game) }
}

/// Returns the details of the last error.
pub(crate) fn detail() -> String {
    let mut text = [0_u8; 500];
    // SAFETY: the capacity is that of the buffer.
    let length = unsafe { phaselock_error_detail(text.as_mut_ptr().cast(), text.len()) };
    String::from_utf8_lossy(&text[..usize::try_from(length).expect("a length")]).into_owned()
}

/// Returns options to join without any extras.
pub(crate) fn options(game: u64, server: &CString, name: &CString) -> JoinOptions {
    JoinOptions {
        abi: PHASELOCK_ABI,
        flags: 0,
        game,
        server: server.as_ptr(),
        name: name.as_ptr(),
        password: null(),
        room: null(),
        known_hosts: null(),
        key_file: null(),
        predict: None,
        user: std::ptr::null_mut::<c_void>(),
        own_kind: 0,
        reserved: 0,
    }
}

/// Joins a server.
pub(crate) fn join(game: u64, server: &str, name: &str, predict: Option<Predict>) -> u64 {
    let [server, name] = [server, name].map(|text| CString::new(text).expect("no zero"));
    let options = JoinOptions { predict, ..options(game, &server, &name) };
    let mut client = 0;
    // SAFETY: texts and structure live during the call.
    let result = unsafe { phaselock_connect(&raw const options, &raw mut client) };
    assert_eq!(result, 0, "{}", detail());
    client
}

/// Returns a request's bytes.
pub(crate) fn call(word: &str) -> Vec<u8> {
    write_message(&Call(word.to_owned())).expect("short")
}
