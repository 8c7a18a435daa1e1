//! The platformer: players are never corrected, forged inputs gain nothing, and other players are
//! shown well.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use phaselock::client::{AnyClient, Client};
use phaselock::fields::{KindOf, Record};
use phaselock::game::{Bot as _, Entities, Game, Inputs, World};
use phaselock::ids::PlayerId;
use phaselock::link::{Conditions, LinkConfig, PROFILES};
use phaselock::motion::Timeline;
use phaselock::motion::choice::Choice;
use phaselock::random::Random;
use phaselock::server::{AnyRoom, ClientId, Room};
use phaselock::time::{LocalTime, Micros, Rates, Tick};
use phaselock::wire::control::ClientMessage;
use phaselock::wire::input::{InputPacket, Pressed, write_input};
use phaselock_games::platformer::level::{Level, cycle_ticks, tick_of};
use phaselock_games::platformer::{Bot, Command, Piece, Platformer, Player, Score, player_of};
use phaselock_games::platformer::{HALF_WIDTH, HEIGHT};
use phaselock_games::rounds::{Phase, played, round};
use phaselock_testing::{Press, Sim, Skew, body, hello, room_config};

/// Random inputs, mostly to the right: it falls often, and gets on platforms now and then.
fn restless(seed: u64) -> Press<Platformer> {
    let mut random = Random::new(seed);
    let mut command = Command { right: 1, jump: false };
    Box::new(move |_: &Client<Platformer>, _: Tick| {
        if random.chance(0.05) {
            command.right = [-1, 0, 1, 1, 1, 1][random.below(6) as usize];
        }
        if random.chance(0.1) {
            command.jump = !command.jump;
        }
        command
    })
}

/// Maximum number of ticks by which a player's own time is behind: a quarter of a second at 60 Hz.
const BEHIND_MAX: u8 = 15;

/// Results of the players of a run.
#[derive(Debug, Default)]
struct Done {
    corrected: Vec<u64>,
    late: Vec<u64>,
    /// Maximum number of ticks by which each player's own time was behind, once it had begun.
    behind: Vec<u8>,
    rides: u64,
    falls: u32,
    coins: u32,
    races: u32,
}

/// Lets two bots and a restless player play over a network for a number of seconds.
fn undisturbed(network: &str, seed: u64, secs: u32) -> Done {
    let mut sim = Sim::<Platformer>::new(seed, 0);
    sim.frame = Micros::from_ms(8);
    let presses = [phaselock_testing::bot(seed), restless(seed), phaselock_testing::bot(seed + 9)];
    for (press, dice) in presses.into_iter().zip(3 * seed..) {
        let network: Conditions = format!("{network},seed={dice}").parse().expect("a network");
        sim.join_over(&network, Skew::default(), press);
    }
    let mut done = Done::default();
    let mut before: BTreeMap<PlayerId, Player> = BTreeMap::new();
    let mut behind: BTreeMap<PlayerId, u8> = BTreeMap::new();
    for _ in 0..secs * 10 {
        sim.run_each(0.1, |sim| {
            let begun = sim.now > LocalTime(4_000_000);
            for slot in sim.room.world().entities.records::<Player>().filter(|_| begun) {
                let most = behind.entry(slot.owner.expect("it belongs to a player")).or_default();
                *most = slot.entity.age.max(*most);
            }
        });
        sim.truth.clear();
        for slot in sim.room.world().entities.records::<Player>() {
            let (player, owner) = (slot.entity, slot.owner.expect("it belongs to a player"));
            done.rides += u64::from(player.ride > 0);
            if let Some(before) = before.insert(owner, player) {
                done.falls += u32::from(player.falls.wrapping_sub(before.falls));
                done.races += u32::from(player.race != before.race);
                done.coins += player.coins().saturating_sub(before.coins());
            }
        }
    }
    for client in &sim.clients {
        let stats = client.core().stats();
        done.corrected.push(stats.mispredictions);
        done.late.push(stats.late_inputs);
        done.behind.push(behind.get(&client.core().player()).copied().unwrap_or_default());
        assert!(stats.ticks > u64::from(secs) * 55, "{} ticks", stats.ticks);
    }
    done
}

#[test]
fn players_whose_inputs_come_within_a_quarter_of_a_second_are_never_corrected() {
    let far = "delay=125ms,jitter=30ms,spread=heavy,loss=5%,burst=4";
    let networks = PROFILES.iter().map(|(name, _)| *name).chain([far]);
    let (mut rides, mut players, mut free) = (0, 0, 0);
    for (network, seed) in networks.zip(1..) {
        // The long path is played for minutes: a warm-up, a race, its results, and the start of the
        // next race.
        let secs = if network == far { 150 } else { 40 };
        let done = undisturbed(network, seed, secs);
        eprintln!("{network}, {secs} s: {done:?}");
        for (corrected, behind) in done.corrected.iter().zip(&done.behind) {
            // Except for inputs more than a quarter of a second late, which are lost.
            assert!(*corrected == 0 || *behind == BEHIND_MAX, "over {network}: {done:?}");
            players += 1;
            free += u32::from(*corrected == 0);
        }
        // Mispredictions would have been possible.
        assert!(done.races >= 3 && done.coins > 20 && done.falls > 0, "over {network}: {done:?}");
        assert!(secs < 100 || done.races >= 6, "over {network}: {done:?}");
        rides += done.rides;
    }
    assert!(free + 3 >= players, "{free} of {players} were never corrected");
    assert!(rides > 100, "platforms were ridden for {rides} tenths of a second");
}

#[test]
fn bots_play_a_race_to_its_end_over_a_bad_link_and_all_agree() {
    let mut sim = Sim::<Platformer>::new(5, 2);
    sim.frame = Micros::from_ms(8);
    let link = LinkConfig::delayed(75, 30).losing(0.05);
    for _ in 0..4 {
        sim.join_bot(link);
    }
    let (mut results, mut told) = (None, 0);
    // A warm-up, a race and its results, and the start of the next race.
    while played(sim.room.world()) == 0 && sim.now < LocalTime(160_000_000) {
        sim.run(1.0);
        sim.truth.clear();
        let world = sim.room.world();
        let now = round(&world.entities);
        if now.phase() == Phase::Results && now.secs_left(world.tick, Rates::DEFAULT) < 4.0 {
            let scores = |entities: &Entities<Piece>| {
                let of = |score: Score| Score { progress: 0, ..score };
                entities.records::<Score>().map(|slot| (slot.owner, of(slot.entity))).collect()
            };
            let truth: Vec<_> = scores(&world.entities);
            for client in &sim.clients {
                let known = client.core().newest();
                assert_eq!(scores(&known), truth);
                assert_eq!(round(&known), now);
                told += 1;
            }
            results = Some(truth);
        }
    }
    let results = results.expect("the race has ended");
    assert!(told >= 4 && results.len() == 6);
    let arrived = results.iter().filter(|(_, score)| score.place > 0).count();
    assert!(arrived >= 3, "{results:?}");
    assert!(results.iter().all(|(_, score)| score.coins > 3), "{results:?}");
    sim.run(10.0);
    let world = sim.room.world();
    let now = round(&world.entities);
    assert_eq!((now.played, now.phase()), (1, Phase::Play), "the next one has begun");
    assert!(world.entities.records::<Player>().all(|slot| slot.entity.x < 20.0), "at its start");
    for client in &sim.clients {
        assert!(client.closed.is_none());
        let stats = client.core().stats();
        assert_eq!(stats.mispredictions, 0, "{} late", stats.late_inputs);
    }
}

/// A bot's inputs in each tick of its own race, and the distance that it runs.
fn recorded(ticks: u64) -> (Vec<Command>, f32) {
    let game = Platformer::new(Rates::DEFAULT, 1);
    let mut world = World::<Platformer>::new(1);
    game.populate(&mut world);
    game.join(&mut world, PlayerId(0));
    let (mut bot, mut random, mut way) = (Bot::default(), Random::new(5), Vec::new());
    for tick in 1..=ticks {
        let command = bot.input(&game, world.tick, &world.entities, PlayerId(0), &mut random);
        way.push(command.snapped());
        let mut inputs = Inputs::default();
        inputs.set(PlayerId(0), command.snapped());
        world.tick = Tick(tick);
        game.step(&mut world, &inputs);
        world.snap();
    }
    (way, player_of(&world.entities, PlayerId(0)).expect("it is there").x)
}

/// A cheat's packet at a tick of the world: the newest input's tick and the number of inputs.
type Cheat = fn(u64) -> Option<(u64, usize)>;

/// The player after each tick, if a recording is sent in this way.
fn forged(way: &[Command], cheat: Cheat) -> Vec<Player> {
    let mut room = Room::<Platformer>::new(room_config(1, 0));
    let me = ClientId(0);
    let greeting = ClientMessage::Hello(hello::<Platformer>("Eve", LocalTime(0)));
    room.handle_first(LocalTime(0), me, &body(&greeting));
    let (mut seq, mut states) = (0, Vec::new());
    for tick in 0..way.len() as u64 {
        let due = LocalTime(Rates::DEFAULT.time_of(Tick(tick)).0);
        room.handle_timeout(due);
        while room.poll_output(due).is_some() {}
        states.push(*player_of(&room.world().entities, PlayerId(0)).expect("it is there"));
        let Some((newest, count)) = cheat(tick) else { continue };
        let now = due + Micros(1000);
        // If they do not fit into one packet, send several.
        for part in 0..count.div_ceil(60) {
            let newest = newest.saturating_sub(part as u64 * 60);
            let pressed = |back: u64| {
                let at = newest.saturating_sub(back).saturating_sub(1) as usize;
                Pressed::untimed(way.get(at).copied().unwrap_or_default())
            };
            let count = (count - part * 60).min(60) as u64;
            let packet = InputPacket {
                seq,
                ack: None,
                sent: now.low(),
                echo: None,
                epoch: 0,
                tick: Tick(newest).low(),
                inputs: (0..count).map(pressed).collect(),
            };
            seq = seq.wrapping_add(1);
            room.handle_datagram(now, me, &write_input(&packet));
        }
    }
    let stats = room.member_stats(me).expect("it is still in");
    assert!(stats.accepted > 0 && stats.refused == 0, "{stats:?}");
    states
}

/// Number of ticks by which a player's own time is behind a tick of the world.
fn behind(player: &Player, tick: u64) -> u64 {
    let cycle = cycle_ticks(Rates::DEFAULT);
    (tick + cycle - tick_of(Rates::DEFAULT, player.clock).0) % cycle
}

#[test]
fn players_get_no_further_by_any_way_of_sending_inputs() {
    let (way, far) = recorded(1200);
    let honest = forged(&way, |tick| Some((tick + 1, 1)));
    let fair = honest.last().expect("it played").x;
    assert!((fair - far).abs() < 2.0 && far > 25.0, "{fair} m, {far} m without a network");
    let cheats: [(&str, Cheat); 8] = [
        ("twice the inputs", |tick| Some((tick * 2 + 2, 2))),
        ("a clock 10 % fast", |tick| Some((tick * 11 / 10 + 1, 2))),
        ("the same again", |tick| Some((tick + 1, 60))),
        ("long ago", |tick| Some(((tick + 1).saturating_sub(40), 40))),
        ("far ahead", |tick| Some((tick + 120, 180))),
        ("a fifth of a second held back", |tick| (tick % 12 == 11).then_some((tick + 1, 12))),
        ("a second held back", |tick| (tick % 60 == 59).then_some((tick + 1, 60))),
        ("held back once", |tick| (!(400..=414).contains(&tick)).then_some((tick + 1, 20))),
    ];
    for (name, cheat) in cheats {
        let states = forged(&way, cheat);
        let mut most = 0.0_f32;
        for (tick, (player, honest)) in states.iter().zip(&honest).enumerate() {
            most = most.max(honest.x);
            assert!(
                player.x <= most + 0.01,
                "{name}: {} m at tick {tick}, honestly {most} m",
                player.x
            );
            assert!(behind(player, tick as u64) <= 15, "{name}: platforms wait at tick {tick}");
        }
    }
}

#[test]
fn a_player_that_holds_inputs_back_in_the_air_still_comes_down() {
    // Up from tick 100 on, for as long as possible, and then no inputs for two seconds.
    let way: Vec<_> = (1..400).map(|tick| Command { right: 0, jump: tick >= 100 }).collect();
    let states = forged(&way, |tick| (!(110..230).contains(&tick)).then_some((tick + 1, 1)));
    let floor = Level::the().start.y;
    assert!(states[110].y < floor - 1.0, "the player is in the air");
    let landed = states[111..].iter().position(Player::stands).expect("the player lands") as u64;
    // The jump of 0.7 s was in its first sixth of a second; the key counts as released.
    assert!((15..15 + 35).contains(&landed), "{landed} ticks after the last input");
    let hangs = states[111..].windows(2).take_while(|pair| pair[0].y == pair[1].y).count();
    assert!(hangs <= 16, "it hangs in the air for {hangs} ticks");
}

/// Errors of other players as shown: metres from the truth at their own time, and frames with a
/// foot in the floor.
#[derive(Debug, Default)]
struct Shown {
    off: Vec<f32>,
    sunk: u32,
    /// Metres by which a player on a platform is above or below it, at the picture's time.
    adrift: Vec<f32>,
}

/// A quantile: the value that this share of them does not exceed.
fn quantile(sorted: &[f32], share: f64) -> f32 {
    sorted[((sorted.len() - 1) as f64 * share) as usize]
}

/// Whether a body is visibly drawn inside something solid.
fn is_sunk(level: &Level, player: &Player) -> bool {
    const SEEN: f32 = 0.03;
    let (left, right) = (player.x - HALF_WIDTH + SEEN, player.x + HALF_WIDTH - SEEN);
    let (head, feet) = (player.y - HEIGHT + SEEN, player.y - SEEN);
    let mut positions = (left.floor() as i32..right.ceil() as i32)
        .flat_map(|column| (head.floor() as i32..feet.ceil() as i32).map(move |row| (column, row)));
    positions.any(|(column, row)| level.is_solid(column, row))
}

/// Watches bots with some methods, each over a path that loses and delays the same packets.
fn watched(network: &str, methods: &[Choice], seed: u64) -> Vec<Shown> {
    let mut network: Conditions = network.parse().expect("a network");
    network.seed = seed;
    let mut sim = Sim::<Platformer>::new(seed, 6);
    let mut screens = Vec::new();
    for _ in methods {
        let press = Box::new(|_: &Client<Platformer>, _| Command::default());
        let client = sim.join_over(&network, Skew::default(), press);
        let screen = Rc::new(RefCell::new(None));
        sim.clients[client].screen = Some(screen.clone());
        screens.push(screen);
    }
    sim.run(11.0);
    for (client, method) in sim.clients.iter_mut().zip(methods) {
        client.core_mut().choose(0, *method);
    }
    let mut shown: Vec<Shown> = methods.iter().map(|_| Shown::default()).collect();
    let mut truth: VecDeque<(Tick, Entities<Piece>)> = VecDeque::new();
    let cycle = cycle_ticks(Rates::DEFAULT) as f32;
    sim.run_each(25.0, |sim| {
        let world = sim.room.world();
        if truth.back().is_none_or(|(tick, _)| *tick < world.tick) {
            truth.push_back((world.tick, world.entities.clone()));
            if truth.len() > 120 {
                truth.pop_front();
            }
            sim.truth.clear();
        }
        for (screen, shown) in screens.iter().zip(&mut shown) {
            let Some(view) = screen.borrow_mut().take() else { continue };
            for slot in view.entities.records::<Player>().filter(|slot| Some(slot.id) != view.own) {
                let Some((newest, _)) = truth.back() else { continue };
                // The picture states its tick in the player's own time.
                let ticks = slot.entity.clock * cycle;
                let back = ((newest.0 % cycle as u64) as f32 - ticks).rem_euclid(cycle);
                let at = truth.len() as f32 - 1.0 - back;
                let (before, part) = (at.floor(), at - at.floor());
                let of = |position: f32| {
                    let (_, entities) = truth.get(position.max(0.0) as usize)?;
                    entities.record::<Player>(slot.id).copied()
                };
                let (Some(a), Some(b)) = (of(before), of(before + 1.0).or(of(before))) else {
                    continue;
                };
                if (a.race, a.falls) != (b.race, b.falls) || a.falls != slot.entity.falls {
                    continue;
                }
                let there = a.feet() + (b.feet() - a.feet()) * part;
                shown.off.push(there.distance(slot.entity.feet()));
                shown.sunk += u32::from(is_sunk(Level::the(), &slot.entity));
                if let Some(platform) = slot.entity.platform() {
                    let top = platform.at(slot.entity.clock);
                    shown.adrift.push((slot.entity.y - top.y).abs());
                }
            }
        }
    });
    for shown in &mut shown {
        shown.off.sort_by(f32::total_cmp);
        shown.adrift.sort_by(f32::total_cmp);
    }
    shown
}

#[test]
fn others_are_shown_by_what_the_figures_favour() {
    let methods: Vec<_> =
        Choice::ALL.iter().copied().filter(|choice| choice.timeline() == Timeline::Past).collect();
    let chosen =
        methods.iter().position(|method| *method == (Platformer::KIT.presentation)(KindOf::new(0)));
    let chosen = chosen.expect("others are shown in the past");
    let mut sums = vec![(0.0_f32, 0.0_f32); methods.len()];
    for (name, network) in [
        ("near", "delay=15ms,jitter=5ms"),
        ("lossy", "delay=50ms,jitter=15ms,loss=10%"),
        ("far", "delay=125ms,jitter=30ms,spread=heavy,loss=5%,burst=4"),
    ] {
        let shown = watched(network, &methods, 3);
        for ((method, shown), sum) in methods.iter().zip(&shown).zip(&mut sums) {
            let mean = shown.off.iter().sum::<f32>() / shown.off.len() as f32;
            let sunk = shown.sunk as f32 / shown.off.len() as f32;
            let (p99, most) = (quantile(&shown.off, 0.99), quantile(&shown.off, 1.0));
            eprintln!(
                "{name}, {method}: {mean:.4} m off, 99 % within {p99:.3} m, at most {most:.2} m, \
                 {:.2} % of the pictures in the floor",
                sunk * 100.0
            );
            assert!(shown.off.len() > 5000, "{} pictures", shown.off.len());
            // A landing or a jump lies between two states; otherwise feet are on the platform.
            let rides = shown.adrift.len();
            let adrift = if rides > 0 { quantile(&shown.adrift, 0.9) } else { 0.0 };
            eprintln!("  {rides} pictures of riders, 9 in 10 within {adrift:.4} m of the platform");
            assert!(
                *method != (Platformer::KIT.presentation)(KindOf::new(0)) || adrift < 0.02,
                "{adrift} m"
            );
            (sum.0, sum.1) = (sum.0 + mean, sum.1 + sunk);
        }
    }
    let least = |of: fn(&(f32, f32)) -> f32| sums.iter().map(of).fold(f32::MAX, f32::min);
    let (off, sunk) = sums[chosen];
    assert!(off <= least(|sum| sum.0) * 1.1, "{sums:?}");
    assert!(sunk <= least(|sum| sum.1) + 0.002, "{sums:?}");
}
