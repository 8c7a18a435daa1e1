//! A headless player of our own, which runs in circles and prints what happens.
//!
//! `cargo run --bin tag-player -- localhost:4433`

use std::error::Error;
use std::time::Duration;

use glam::Vec2;
use phaselock::client::{Client, Notice};
use phaselock::game::read_message;
use phaselock::time::Tick;
use phaselock_quic::address::Address;
use phaselock_quic::client::Pins;
use phaselock_quic::connect;
use tag::{Ask, Event, Run, Tag};

/// Returns the input of a tick.
fn circle(_: &Client<Tag>, tick: Tick) -> Run {
    Run { way: Vec2::from_angle(tick.0 as f32 * 0.05) }
}

fn main() -> Result<(), Box<dyn Error>> {
    let address: Address = std::env::args().nth(1).unwrap_or("localhost".into()).parse()?;
    // Trusts any server. A program for players would remember the servers in a file.
    let mut player = connect::<Tag>(address, Pins::Memory, "Circler")?;
    while player.client().is_none() {
        player.play(Duration::from_millis(100), circle)?;
    }
    for second in 0..10 {
        player.play(Duration::from_secs(1), circle)?;
        if second == 2 {
            player.session().request(&Ask::Shout)?;
        }
        while let Some(notice) = player.poll_notice() {
            match notice {
                Notice::Event(bytes) => println!("{:?}", read_message::<Event>(&bytes)?),
                Notice::State(state) => println!("{state:?}"),
                _ => {}
            }
        }
    }
    let all = player.client().map(|client| client.newest()).unwrap_or_default();
    println!("{} runners, including me", all.len());
    player.leave("that was enough");
    Ok(())
}
