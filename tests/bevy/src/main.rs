//! Tag in a window of Bevy: `cargo run -- localhost:4433 --name Ada`.
//!
//! Phaselock needs three things of an engine: a call of [`Player::frame`] in each of its frames,
//! what the player presses in that call, and entities that follow the picture it returns. In the
//! picture the own runner is predicted, and the others are interpolated.

mod args;
mod look;

use std::collections::HashMap;
use std::process::ExitCode;

use bevy::prelude::*;
use bevy::window::WindowResolution;
use phaselock::client::{Notice, Picture, State};
use phaselock::game::read_message;
use phaselock::ids::EntityId;
use phaselock_quic::client::Pins;
use phaselock_quic::{Player, connect};
use tag::{Ask, Event, Run, Runner, Tag};

use self::args::Args;
use self::look::{Body, Look, News};

/// The player on the server, and what is shown of the game. Not `Sync`, hence no `Resource`.
struct Seat {
    player: Player<Tag>,
    picture: Option<Picture<Tag>>,
}

/// Plays a frame: what is pressed goes in, the picture comes out.
fn play(mut seat: NonSendMut<Seat>, keys: Res<ButtonInput<KeyCode>>, args: Res<Args>) {
    let held = |keys_of: [KeyCode; 2]| f32::from(keys_of.iter().any(|key| keys.pressed(*key)));
    let right =
        held([KeyCode::KeyD, KeyCode::ArrowRight]) - held([KeyCode::KeyA, KeyCode::ArrowLeft]);
    let down = held([KeyCode::KeyS, KeyCode::ArrowDown]) - held([KeyCode::KeyW, KeyCode::ArrowUp]);
    let way = glam::Vec2::new(right, down).normalize_or_zero();
    if keys.just_pressed(KeyCode::Space)
        && let Err(error) = seat.player.session().request(&Ask::Shout)
    {
        warn!("cannot shout: {error}");
    }
    // The picture before the last one is dropped first, so that its memory is used again.
    seat.picture = None;
    seat.picture = seat.player.frame(|_, tick| match args.circle {
        true => Run { way: glam::Vec2::from_angle(tick.0 as f32 * 0.05) },
        false => Run { way },
    });
}

/// Lets entities of Bevy follow the picture. Everything about them is set in each frame: a name may
/// arrive after its runner and may change, and another server may use an id for someone else.
fn show(
    mut commands: Commands,
    (seat, look): (NonSend<Seat>, Res<Look>),
    mut known: Local<HashMap<EntityId, Entity>>,
    mut bodies: Query<(&Body, &mut Transform, &mut MeshMaterial2d<ColorMaterial>)>,
    mut labels: Query<&mut Text2d>,
) {
    let (Some(picture), Some(client)) = (&seat.picture, seat.player.client()) else { return };
    known.retain(|id, body| {
        let is_shown = picture.entities.get(*id).is_some();
        if !is_shown {
            commands.entity(*body).despawn();
        }
        is_shown
    });
    for slot in picture.entities.iter() {
        let color = look.color(&slot.entity, picture.own == Some(slot.id));
        let Some(body) = known.get(&slot.id) else {
            known.insert(slot.id, look.spawn(&mut commands, place_of(&slot.entity), color));
            continue;
        };
        let Ok((body, mut place, mut material)) = bodies.get_mut(*body) else { continue };
        place.translation = place_of(&slot.entity).extend(1.0);
        material.0 = color;
        let seat = slot.owner.and_then(|owner| client.roster().get(&owner));
        let name = seat.map_or("", |seat| &seat.name);
        // Assigning it lays the text out again.
        if let Ok(mut label) = labels.get_mut(body.label)
            && label.0 != name
        {
            label.0 = name.to_owned();
        }
    }
}

/// Moves the camera to the own runner.
fn follow(seat: NonSend<Seat>, mut camera: Single<&mut Transform, With<Camera2d>>) {
    let Some(picture) = &seat.picture else { return };
    if let Some(own) = picture.own.and_then(|own| picture.entities.get(own)) {
        camera.translation = place_of(&own.entity).extend(0.0);
    }
}

/// Says what happens, and ends the program when the session ends.
fn hear(mut seat: NonSendMut<Seat>, mut news: ResMut<News>, mut exit: MessageWriter<AppExit>) {
    while let Some(notice) = seat.player.poll_notice() {
        match notice {
            Notice::Event(bytes) => match read_message::<Event>(&bytes) {
                Ok(Event::Tagged { name }) => news.say(format!("{name} is it!")),
                Ok(Event::Shout { .. }) => news.say("Ahoy!".to_owned()),
                Err(_) => {}
            },
            Notice::State(State::Connecting { .. }) => news.say("Joining...".to_owned()),
            Notice::State(State::Connected) => news.say("Run!".to_owned()),
            Notice::State(State::Waiting { reason, .. }) => news.say(reason.to_string()),
            Notice::State(State::Ended { reason }) => {
                eprintln!("the session has ended: {reason}");
                exit.write(AppExit::error());
            }
            _ => {}
        }
    }
}

/// Converts from the game's coordinates, whose y points down.
fn place_of(runner: &Runner) -> Vec2 {
    Vec2::new(runner.position.x, -runner.position.y)
}

fn main() -> ExitCode {
    let joined = Args::parse(std::env::args_os().skip(1)).and_then(|args| {
        // Trusts any server. A program for players would remember the servers in a file.
        let player = connect::<Tag>(args.address.clone(), Pins::Memory, &args.name);
        player.map(|player| (player, args)).map_err(|error| error.to_string())
    });
    let (player, args) = match joined {
        Ok(joined) => joined,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let window = Window {
        title: "Tag".into(),
        resolution: WindowResolution::new(1280, 720),
        ..Window::default()
    };
    let window = WindowPlugin { primary_window: Some(window), ..WindowPlugin::default() };
    let exit = App::new()
        .add_plugins(DefaultPlugins.set(window))
        .insert_resource(ClearColor(Color::srgb(0.05, 0.06, 0.09)))
        .insert_resource(args)
        .insert_non_send(Seat { player, picture: None })
        .add_plugins((look::plugin, args::plugin))
        .add_systems(Update, (play, show, follow, hear).chain())
        .run();
    match exit {
        AppExit::Success => ExitCode::SUCCESS,
        AppExit::Error(_) => ExitCode::FAILURE,
    }
}
