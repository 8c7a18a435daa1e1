//! A game in virtual time, with everything that the window draws over it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::developer;
use crate::eyes::{Eyes, Past};
use crate::graph::NetGraph;
use crate::overlay::{self, PauseMenu, Status};
use crate::people::People;
use crate::play::{AnyPlay, Play};
use crate::presentation::Panel;
use crate::records::{Reached, RecordTracker};
use crate::registry::Views;
use crate::talk::Talk;
use crate::watch::{self, Places};
use egui_macroquad::egui::{Context, LayerId, Pos2, RawInput, Rect, vec2};
use glam::Vec2;
use phaselock::client::{Client, Part, Picture, Seat, State as Link};
use phaselock::fields::Holds;
use phaselock::fingerprint::Fingerprint;
use phaselock::game::{Best, Entities, Excerpt, Game, Highlight, RoundPart, Unit};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::link::LinkConfig;
use phaselock::rewind::{Adjusted, Outcome, Ruling, Tested};
use phaselock::time::{LocalTime, Micros, Tick};
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::round::{Proposal, RoundRequest, VoteKinds};
use phaselock_games::rounds::Round;
use phaselock_testing::{Sim, room_config};
use phaselock_ui::bindings::Binding;
use phaselock_ui::camera::Camera;
use phaselock_ui::controls::{Controls, Devices};
use phaselock_ui::cues::Cues;
use phaselock_ui::glass::{Glass, Passing, Touchable};
use phaselock_ui::layout::{Item, claimed};
use phaselock_ui::lesson::Lesson;
use phaselock_ui::letters::Letters;
use phaselock_ui::look;
use phaselock_ui::view::{Frame, GameView, Scene, Watched};

use super::Pane;
use super::checker::{letters_of, problems};

/// Frames until everything has found its place: an item that makes way for a later one in the same
/// frame does so in the next frame.
const FRAMES: u16 = 8;
const FRAMES_CROWDED: u16 = 10;
const BOTS: u16 = 7;
/// A name of maximum length.
const LONG: &str = "Wilhelmina Wallenstein von Wwwww";

/// The table of scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    None,
    Held,
}

/// Things drawn over the picture of a game.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layers {
    pub(super) talk: bool,
    pub(super) quick: bool,
    pub(super) graph: bool,
    pub(super) details: bool,
    pub(super) vote: bool,
    pub(super) bad: bool,
    pub(super) watching: bool,
    pub(super) pause: bool,
    pub(super) people: bool,
    pub(super) lost: bool,
    pub(super) pinned: bool,
    pub(super) methods: bool,
    pub(super) lesson: bool,
}

impl Layers {
    /// Whether only a keyboard can open it.
    pub(super) fn need_keys(&self) -> bool {
        self.quick || self.graph || self.details || self.methods
    }

    fn are_many(&self) -> bool {
        let all = [self.talk, self.quick, self.graph, self.details, self.vote, self.pause];
        all.into_iter().filter(|it| *it).count() > 1
    }

    pub(super) const NONE: Self = Self {
        talk: false,
        quick: false,
        graph: false,
        details: false,
        vote: false,
        bad: false,
        watching: false,
        pause: false,
        people: false,
        lost: false,
        pinned: false,
        methods: false,
        lesson: false,
    };
}

/// A state of a game and of the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) name: &'static str,
    /// Part of the round: 0 warm-up, 1 play, 2 results.
    pub(super) part: u8,
    /// Seconds until its end.
    pub(super) secs: u64,
    /// Whether the part has just begun.
    pub(super) begun: bool,
    pub(super) dead: bool,
    /// Whether the picture is what the player's killer saw.
    pub(super) explained: bool,
    /// Whether a highlight is shown again.
    pub(super) replayed: bool,
    pub(super) table: Table,
    pub(super) players: u16,
    pub(super) layers: Layers,
}

impl State {
    pub(super) fn new(name: &'static str, part: u8) -> Self {
        Self {
            name,
            part,
            secs: 40,
            begun: false,
            dead: false,
            explained: false,
            replayed: false,
            table: Table::None,
            players: 9,
            layers: Layers::NONE,
        }
    }

    /// The single thing that lies over the game; it fits into any window.
    fn alone(&self) -> Option<Item> {
        Some(match self.name {
            "graph" => Item::Graph,
            "vote" => Item::Vote,
            "lesson" | "lesson in warm-up" => Item::Lesson,
            "first visit" => Item::ProgramNotice,
            _ => return None,
        })
    }

    pub(super) fn words(&self) -> String {
        format!("{} of {}", self.name, self.players)
    }
}

type EntitiesOf<V> = Entities<<<V as GameView>::Game as Game>::Entity>;

/// What the tests know about a game, only from its rules.
pub(super) struct Hooks<V: GameView> {
    /// Kills the local player's avatar.
    pub(super) kill: fn(&mut EntitiesOf<V>, EntityId),
    /// Counts a death of everybody, for the feed.
    pub(super) fall: fn(&mut EntitiesOf<V>, u16),
    /// Moves the local player's avatar, and everything else that must be visible, to the place with
    /// that number.
    pub(super) put: fn(&mut EntitiesOf<V>, Moment),
    /// Distance from the middle of the local player's avatar to its edge, in metres.
    pub(super) radius: f32,
    /// Points of the world that nothing may cover, beside the local player, whose place it is
    /// given.
    pub(super) watched: fn(&V::Game, &EntitiesOf<V>, Vec2) -> Vec<Vec2>,
}

/// A moment of a game.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// Number of the place where the local player's avatar is.
    pub(super) place: u16,
    pub(super) own: Option<EntityId>,
    /// Tick of the moment.
    pub(super) tick: Tick,
}

impl Moment {
    /// Share of `steps` places, from 0 on.
    pub(super) fn share(&self, steps: u16) -> f32 {
        f32::from(self.place % steps) / f32::from(steps)
    }
}

impl<V: GameView> Default for Hooks<V> {
    fn default() -> Self {
        Self {
            kill: |_, _| {},
            fall: |_, _| {},
            put: |_, _| {},
            radius: 0.4,
            watched: |_, _, _| Vec::new(),
        }
    }
}

/// A room with bots, two players and one who watches; the first player's window is drawn.
pub(super) struct Stage<V: GameView> {
    sim: Sim<V::Game>,
    /// There are sticks and buttons on the glass.
    pub(super) has_glass: bool,
    hooks: Hooks<V>,
    deaths: u16,
    /// Number of the place of what moves.
    place: u16,
}

impl<V: GameView> Stage<V>
where
    <V::Game as Game>::Entity: Holds<Round>,
{
    pub(super) fn new(hooks: Hooks<V>) -> Self {
        macroquad::rand::srand(5);
        let mut config = room_config(5, BOTS);
        (config.settings.votes, config.settings.watchers_max) = (VoteKinds::ALL, 4);
        config.settings.games = vec![V::Game::NAME.to_owned(), "another".to_owned()];
        let mut sim = Sim::with(config);
        let link = LinkConfig::delayed(20, 2);
        sim.join_bot(link);
        sim.join_bot(link);
        sim.part = Part::Watch;
        sim.join_bot(link);
        // Newcomers call no votes.
        sim.run(30.0);
        sim.clients[0].core_mut().remember();
        sim.run(1.0);
        let call = RoundRequest::Call(Proposal::Game("another".to_owned()));
        let called = sim.clients[1].session.ask_round(call);
        assert_eq!(called, Ok(()));
        sim.run(0.5);
        assert!(sim.clients[0].core().common().poll().is_some(), "a vote runs");
        assert!(sim.clients[2].core().common().watching().is_some(), "one watches");
        Self { sim, has_glass: false, hooks, deaths: 1, place: 0 }
    }

    /// Words over the world with the heights of their letters, as far as they lie in an item.
    pub(super) fn texts(&mut self, pane: Pane, letters: f32, state: State) -> Vec<(String, f32)> {
        let (screen, context) = (pane.screen(), pane.context());
        Letters::new().set(&context, letters, "en");
        let mut window = Window::<V>::new(self.now(), state, 0);
        let mut found = Vec::new();
        for frame in 0..FRAMES {
            let time = Some(f64::from(frame) / 60.0);
            let input = RawInput { screen_rect: Some(screen), time, ..RawInput::default() };
            let picture = self.picture(state);
            let output = context.run(input, |context| {
                window.draw(context, &mut self.sim, &picture, (state, frame));
            });
            let (items, labels) = claimed(&context);
            let items: Vec<_> = items.into_iter().map(|(_, rect)| rect).chain(labels).collect();
            let lies_in = |at: Rect| items.iter().any(|item| item.expand(2.0).contains_rect(at));
            found = letters_of(&output.shapes, lies_in);
        }
        found
    }

    /// Everything that is wrong in a window of a size in points.
    pub(super) fn problems(&mut self, pane: Pane, letters: f32, state: State) -> Vec<String> {
        let (screen, context) = (pane.screen(), pane.context());
        Letters::new().set(&context, letters, "en");
        // In a replay, it does not matter where everything is now.
        self.place = self.place.wrapping_add(u16::from(!state.replayed));
        let mut window = Window::<V>::new(self.now(), state, self.place);
        window.glass = self.has_glass.then(|| Glass::for_fingers(pane.unit));
        let mut found = Vec::new();
        let frames = if state.layers.are_many() { FRAMES_CROWDED } else { FRAMES };
        for frame in 0..frames {
            let time = Some(f64::from(frame) / 60.0);
            let input = RawInput { screen_rect: Some(screen), time, ..RawInput::default() };
            // A part that begins is announced from the first frame on.
            let part = if state.begun && frame == 0 { (state.part + 2) % 3 } else { state.part };
            self.deaths = self.deaths % 500 + 1;
            let picture = self.picture(State { part, ..state });
            let output = context.run(input, |context| {
                window.draw(context, &mut self.sim, &picture, (state, frame));
            });
            let (mut items, labels) = claimed(&context);
            let watched = window.watched(&self.sim, &picture, &self.hooks);
            let watched: Vec<_> = watched.into_iter().filter(|at| screen.contains(*at)).collect();
            let subjects: Vec<_> =
                items.extract_if(.., |(item, _)| *item == Item::Subject).map(|it| it.1).collect();
            found = problems(&output.shapes, screen, &labels);
            found.extend(overlapping(&items, &subjects));
            // Neither the dead nor results are watched.
            if !state.dead && state.part != 2 {
                found.extend(watched.iter().flat_map(|at| covering(&items, *at)));
                if watched.is_empty() {
                    found.push("nothing is watched".to_owned());
                }
            }
            let is_shown = |item: Item| items.iter().any(|(it, _)| *it == item);
            if let Some(item) = state.alone().filter(|item| !is_shown(*item)) {
                found.push(format!("{item:?} has no place"));
            }
            for (n, (item, rect)) in items.iter().enumerate() {
                if !screen.expand(0.5).contains_rect(*rect) {
                    found.push(format!("{item:?} leaves the window: {rect:?}"));
                }
                // What has the keyboard lies on top of the rest.
                let on_top = |one: Item| one == Item::Panel;
                for (other, at) in &items[n + 1..] {
                    if on_top(*item) != on_top(*other) {
                        continue;
                    }
                    if rect.shrink(0.5).intersects(*at) {
                        found.push(format!("{item:?} and {other:?} overlap: {rect:?} {at:?}"));
                    }
                }
            }
        }
        found
    }

    fn now(&self) -> LocalTime {
        self.sim.clients[0].skew.read(self.sim.now)
    }

    /// The picture, as if the round were in that state.
    fn picture(&mut self, state: State) -> Picture<V::Game> {
        let now = self.now();
        let client = &mut self.sim.clients[0];
        let mut picture = client.session.picture::<V::Game>(now).expect("the game is joined");
        let core = client.session.client_of::<V::Game>().expect("the game is joined");
        let tick = Tick(core.rates().tick_at(picture.own_time).0);
        let until = tick.plus(state.secs * u64::from(core.rates().tick_hz));
        let entities = Arc::make_mut(&mut picture.entities);
        for (_, _, round) in entities.records_mut::<Round>() {
            (round.part, round.until) = (state.part, until);
        }
        (self.hooks.fall)(entities, self.deaths);
        let moment = Moment { place: self.place, own: picture.own, tick };
        (self.hooks.put)(entities, moment);
        if let Some(own) = picture.own.filter(|_| state.dead) {
            (self.hooks.kill)(entities, own);
        }
        picture
    }
}

/// A ruling with many words, about a shot of a bot.
fn ruling<G: Game>(client: &Client<G>) -> Ruling {
    let own = G::avatar(client.shown(), client.player()).expect("it plays");
    let tested = Tested {
        target: own,
        at: Vec2::ZERO,
        radius: 0.5,
        inside: 0.25,
        outcome: Outcome::Covered,
    };
    Ruling {
        shooter: PlayerId(0),
        tick: client.newest_tick(),
        claimed: Some(Micros::from_ms(1234)),
        accepted: Micros::from_ms(200),
        adjusted: Adjusted::Implausible,
        most: Micros::from_ms(250),
        tested: Some(tested),
    }
}

/// A highlight of the present.
fn highlight<G: Game>(client: &Client<G>) -> Highlight {
    let span = Micros::from_ms(500);
    let excerpt = Excerpt { before: span, after: span, slowness: 2 };
    excerpt.of(client.rates(), client.player(), client.newest_tick(), Micros::ZERO)
}

/// True for items that the player has asked for, and that lie over everything.
fn is_asked_for(item: Item) -> bool {
    [Item::Table, Item::Records, Item::Panel].contains(&item)
}

/// Items that lie over what the game has marked to be seen, though they could be elsewhere.
fn overlapping(items: &[(Item, Rect)], subjects: &[Rect]) -> Vec<String> {
    let gives_way = |item: &Item| *item > Item::Subject && !is_asked_for(*item);
    let items = items.iter().filter(|(item, _)| gives_way(item));
    let pairs = items.flat_map(|(item, rect)| subjects.iter().map(move |at| (item, rect, at)));
    let covered = pairs.filter(|(_, rect, at)| rect.shrink(0.5).intersects(**at));
    covered.map(|(item, rect, at)| format!("{item:?} covers a subject: {rect:?} {at:?}")).collect()
}

/// Every item that lies over a point that the player must see by the rules, whatever the game has
/// marked, and whether the item has a fixed place or not.
fn covering(items: &[(Item, Rect)], at: Pos2) -> impl Iterator<Item = String> {
    let covers = move |(item, rect): &&(Item, Rect)| {
        !is_asked_for(*item) && *item != Item::Subject && rect.contains(at)
    };
    let told = move |(item, rect): &(Item, Rect)| {
        format!("{item:?} covers what must be seen: {rect:?} {at:?}")
    };
    items.iter().filter(covers).map(told)
}

/// The window's own state from frame to frame.
struct Window<V: GameView> {
    view: V,
    eyes: Option<Eyes<V>>,
    play: Play<V>,
    graph: NetGraph,
    panel: Panel,
    talk: Talk,
    people: People,
    lesson: Lesson,
    records: RecordTracker,
    controls: Controls,
    /// The touch controls, on a phone.
    glass: Option<Glass>,
    roster: BTreeMap<PlayerId, Seat>,
    now: LocalTime,
    camera: Option<Camera>,
    /// The mouse, as a share of the window.
    pointer: egui_macroquad::egui::Vec2,
}

impl<V: GameView> Window<V> {
    fn new(now: LocalTime, state: State, place: u16) -> Self {
        let mut talk = Talk::open(None, now);
        if state.layers.talk || state.layers.pause || state.layers.watching {
            for n in 0..9 {
                let words = "many words that fill more than a line of the talk, ".repeat(n % 3 + 1);
                talk.add_notice(&words, now);
            }
        }
        let name =
            |n: u16| if n.is_multiple_of(3) { LONG.to_owned() } else { format!("player {n}") };
        let roster = (0..state.players)
            .map(|n| {
                let seat = Seat { person: Some(u64::from(n)), ..Seat::new(name(n), n % 2 == 1) };
                (PlayerId(n), seat)
            })
            .collect();
        let mut panel = Panel::new(state.layers.methods);
        panel.shown = state.layers.methods;
        Self {
            view: V::default(),
            eyes: None,
            play: Play::new(now),
            graph: NetGraph::new(state.layers.graph),
            panel,
            talk,
            people: People::default(),
            lesson: Lesson::default(),
            records: RecordTracker::default(),
            controls: Controls::default(),
            glass: None,
            roster,
            now,
            camera: None,
            pointer: vec2(f32::from(place % 3), f32::from(place / 3 % 3)) / 2.0,
        }
    }

    /// Places in the window of everything that must be visible, according to the rules and the
    /// camera.
    fn watched(
        &self,
        sim: &Sim<V::Game>,
        picture: &Picture<V::Game>,
        hooks: &Hooks<V>,
    ) -> Vec<Pos2> {
        let (Some(camera), Some(client)) = (self.camera, sim.clients[0].client()) else {
            return Vec::new();
        };
        let game = client.game();
        let own = picture.own.and_then(|own| picture.entities.get(own));
        let own = own.and_then(|slot| game.position(&slot.entity));
        let image = |at: Vec2| match game.wraps() {
            // The image that is nearest to the middle.
            Some(size) => at - ((at - camera.middle) / size).round() * size,
            None => at,
        };
        let edges = [Vec2::ZERO, Vec2::X, Vec2::Y, Vec2::NEG_X, Vec2::NEG_Y];
        let Some(own) = own else { return Vec::new() };
        let around = edges.into_iter().map(|edge| own + edge * hooks.radius);
        let watched = around.chain((hooks.watched)(game, &picture.entities, own));
        watched.map(|at| camera.to_screen(image(at))).collect()
    }

    /// Draws a frame in the order of a visit.
    fn draw(
        &mut self,
        ctx: &Context,
        sim: &mut Sim<V::Game>,
        picture: &Picture<V::Game>,
        (state, frame): (State, u16),
    ) {
        let Layers { watching, pause, lost, bad, .. } = state.layers;
        let (now, screen, layers) = (self.now, ctx.screen_rect(), state.layers);
        self.controls.bind(V::Game::NAME, V::ACTIONS, &Default::default());
        self.controls.set_glass(self.glass.is_some());
        if frame == 0 {
            let key = match (layers.talk, layers.quick) {
                (true, _) => Some("Enter"),
                (_, true) => Some("V"),
                _ => None,
            };
            let struck = key.and_then(Binding::parse).into_iter().collect();
            self.controls.handle(Devices { struck, ..Devices::default() });
            self.talk.handle_keys(&self.controls, true);
        }
        let painter = ctx.layer_painter(LayerId::background());
        // Beside everything: sentences at the pointer lie on top by intent.
        let pointer = Some(screen.min);
        let views = phaselock_views::all(Views::new());
        let [first, _, third] = &mut *sim.clients else { panic!("three players have joined") };
        let client = first.session.client_of::<V::Game>().expect("the game is joined");
        let watched = Watched { target: Some(client.player()), free: None };
        let scene = Scene {
            picture,
            game: client.game(),
            rates: client.rates(),
            player: client.player(),
            roster: &self.roster,
            presence: client.common().presence(),
            house: client.common().house(),
            round_trip_ms: Some(23.0),
            age_secs: 1.0 + f32::from(frame) / 60.0,
            watched: watching.then_some(watched),
            ghost: None,
            frame: Frame {
                painter: &painter,
                screen,
                pointer: self.glass.is_none().then(|| screen.lerp_inside(self.pointer)),
                secs: 1.0 / 60.0,
                active: !pause && !watching && !lost,
                scores: state.table == Table::Held,
                scrolled: 0,
                crowded: layers.graph || layers.methods || layers.lesson || layers.talk,
                marks: false,
                controls: &self.controls,
                cues: &Cues::default(),
            },
        };
        let past = match (state.explained, state.replayed) {
            (true, _) => Some(Past::Death(ruling(client))),
            (_, true) => Some(Past::Highlight(highlight(client))),
            _ => None,
        };
        self.camera = Some(match past {
            Some(past) => {
                let eyes = self.eyes.get_or_insert_with(|| Eyes::new(client, &past));
                let at = client.rates().time_of(client.newest_tick());
                eyes.draw(client, &scene, (past, at))
            }
            None => self.view.draw(&scene),
        });
        if state.part == 2 {
            self.records.advance(Some(RoundPart::Results), true);
            let lap = Reached {
                name: "lap",
                words: "best lap of all",
                best: Best::Least,
                unit: Unit::Seconds,
                value: 61.0 - f64::from(frame),
            };
            self.records.reach("race", &[lap, Reached { name: "time", ..lap }]);
            self.records.draw(&painter, screen);
        }
        if layers.lesson {
            self.lesson.teach(&self.view, &scene);
        }
        let mut readings = self.play.readings(client, now);
        readings.figures.round_trip_ms = Some(if bad { 1234.0 } else { 23.0 });
        if bad {
            let figures = &mut readings.figures;
            (figures.loss_down, figures.loss_up, figures.late_inputs) = (1.0, 0.13, 9);
        }
        self.graph.observe(now, &readings);
        self.controls.pointer = pointer;
        self.graph.draw(&painter, now, &readings, &self.controls);
        if watching {
            let common = third.core().common();
            let places = Places { free: 0, ahead: Some(12) };
            watch::draw_bar(&painter, screen, &self.controls, common, (watched, Some(places)));
        }
        let reason = Disconnect::new(Code::Lost, "the server did not answer for 10 s");
        let waiting = Link::Waiting { reason, retry_at: now + Micros::from_ms(2500), attempt: 3 };
        overlay::draw(
            &painter,
            &Status {
                is_recording: false,
                title: "a.server.with.a.long.name.example.org:4433",
                server: "A server with a name that is as long",
                state: if lost { &waiting } else { &Link::Connected },
                lost: None,
                now,
                playing: Some(V::TITLE),
                silence: Some(Micros::ZERO),
                figures: Some(readings.figures),
                without_network: false,
                link: bad.then_some("delay 120 ms, jitter 30 ms, loss 5 %, reorder 1 %, 2 Mbit/s"),
                pinned: layers.pinned.then_some(Fingerprint([0xab; 32])),
                menu_keys: "Esc, Start",
            },
        );
        if layers.vote {
            let vote = self.people.vote(client.common(), &views, &self.controls, now);
            vote.expect("a vote runs").draw(&painter);
        }
        if layers.details {
            developer::draw(&painter, &readings, pointer);
        }
        let session = &mut first.session;
        self.panel.draw(ctx, session, &self.play, &self.controls);
        self.talk.draw(ctx, &painter, session, now);
        if layers.people {
            let client = session.client().expect("the game is joined");
            self.people.card(ctx, client, &views, (2, Some(0)));
        }
        if layers.pinned {
            look::draw_notice(ctx, "no sound server answers at the usual places", true);
        }
        if pause {
            let client = session.client().expect("the game is joined");
            let beside = self.talk.draw_people(ctx, client.common(), now);
            let hints = self.controls.help();
            let pause = PauseMenu {
                is_recording: false,
                can_save: true,
                title: V::TITLE,
                controls: &hints,
                shared: &[],
                lesson: Some("Show the lesson"),
                is_watching: false,
                beside,
            };
            pause.draw(ctx);
        }
        let is_touched = !pause && !layers.people && !layers.talk;
        if let Some(glass) = self.glass.as_mut().filter(|_| is_touched) {
            let own = if watching { watch::TOUCHABLE } else { V::ACTIONS };
            let replay = state.explained || state.replayed;
            let passing = Passing { vote: layers.vote, replay };
            glass.lay_out(Touchable { actions: own, passing, bar: 0.0 }, screen.size());
            glass.draw(ctx);
        }
    }
}
