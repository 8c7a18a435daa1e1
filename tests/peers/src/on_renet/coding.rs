//! A snapshot's messages in two forms: with states written by serde, and quantised by hand.

use anyhow::{Context, Result};
use glam::Vec2;
use phaselock::wire::bits::{BitReader, BitWriter};
use serde::{Deserialize, Serialize};

use crate::scene::State;

/// Size of a message: renet carries it in one packet, independent of lost ones.
const MESSAGE_BYTES_MAX: usize = 1150;
/// Maximum bytes of a state in [`Coding::Plain`], with its player's number.
const PLAIN_BYTES: usize = 23;
/// Bits of a state in [`Coding::Packed`], with its player's number.
const PACKED_BITS: usize = 78;
/// Bits of a position, a velocity, an aim, a player's number.
const BITS: [u32; 4] = [16, 12, 12, 10];
/// Steps of the grid per metre, metre per second, and turn, as in ours.
const STEPS: [f32; 3] = [512.0, 128.0, 4096.0];

/// Form of the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// Five `f32` and a number of two bytes, by serde in postcard.
    Plain,
    /// On our grid, bit by bit.
    Packed,
}

/// States of players, for serde.
#[derive(Debug, Serialize, Deserialize)]
struct Message {
    tick: u32,
    states: Vec<(u16, [f32; 5])>,
}

fn signed(value: f32, steps: f32, bits: u32) -> u64 {
    let half = (1_i64 << (bits - 1)) as f32;
    ((value * steps).round().clamp(-half, half - 1.0) + half) as u64
}

impl Coding {
    /// Returns the messages of a snapshot, each useful alone.
    pub fn write(self, tick: u32, states: &[(u16, State)]) -> Result<Vec<Vec<u8>>> {
        match self {
            Self::Plain => {
                let chunks = states.chunks((MESSAGE_BYTES_MAX - 10) / PLAIN_BYTES);
                let message = |chunk: &[(u16, State)]| {
                    let states = chunk.iter().map(|(player, state)| {
                        let State { position, velocity, angle } = *state;
                        (*player, [position.x, position.y, velocity.x, velocity.y, angle])
                    });
                    let message = Message { tick, states: states.collect() };
                    postcard::to_stdvec(&message).context("cannot write a snapshot")
                };
                chunks.map(message).collect()
            }
            Self::Packed => {
                let chunks = states.chunks((MESSAGE_BYTES_MAX - 6) * 8 / PACKED_BITS);
                Ok(chunks.map(|chunk| pack(tick, chunk)).collect())
            }
        }
    }

    /// Reads a message: its tick, and states by players. Fails if the message is foreign.
    pub fn read(self, bytes: &[u8]) -> Result<(u32, Vec<(u16, State)>)> {
        match self {
            Self::Plain => {
                let Message { tick, states } = postcard::from_bytes(bytes)?;
                let states = states.into_iter().map(|(player, [x, y, dx, dy, angle])| {
                    let (position, velocity) = (Vec2::new(x, y), Vec2::new(dx, dy));
                    (player, State { position, velocity, angle })
                });
                Ok((tick, states.collect()))
            }
            Self::Packed => unpack(bytes),
        }
    }

    /// Returns only the tick; None if the message is foreign.
    pub fn tick(self, bytes: &[u8]) -> Option<u32> {
        match self {
            Self::Plain => postcard::take_from_bytes(bytes).ok().map(|(tick, _)| tick),
            Self::Packed => BitReader::new(bytes).number(32).ok(),
        }
    }
}

fn pack(tick: u32, states: &[(u16, State)]) -> Vec<u8> {
    let mut writer = BitWriter::new();
    writer.bits(tick.into(), 32);
    writer.bits(states.len() as u64, 10);
    for (player, state) in states {
        writer.bits((*player).into(), BITS[3]);
        for (vector, bits, steps) in
            [(state.position, BITS[0], STEPS[0]), (state.velocity, BITS[1], STEPS[1])]
        {
            writer.bits(signed(vector.x, steps, bits), bits);
            writer.bits(signed(vector.y, steps, bits), bits);
        }
        writer.bits((state.angle * STEPS[2]).round() as u64 % 4096, BITS[2]);
    }
    writer.into_bytes()
}

fn unpack(bytes: &[u8]) -> Result<(u32, Vec<(u16, State)>)> {
    let mut reader = BitReader::new(bytes);
    let tick = reader.number(32)?;
    let count: usize = reader.number(10)?;
    let mut states = Vec::new();
    for _ in 0..count {
        let player = reader.number(BITS[3])?;
        let mut axis = |bits: u32, steps: f32| {
            let half = 1_i64 << (bits - 1);
            anyhow::Ok((reader.number::<i64>(bits)? - half) as f32 / steps)
        };
        let position = Vec2::new(axis(BITS[0], STEPS[0])?, axis(BITS[0], STEPS[0])?);
        let velocity = Vec2::new(axis(BITS[1], STEPS[1])?, axis(BITS[1], STEPS[1])?);
        let angle = reader.number::<u16>(BITS[2])?;
        states.push((player, State { position, velocity, angle: f32::from(angle) / STEPS[2] }));
    }
    reader.finish()?;
    Ok((tick, states))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene;

    #[test]
    fn states_come_back_in_messages_of_a_packet() -> Result<()> {
        let states: Vec<_> =
            (0..256_u16).map(|player| (player, scene::start(player.into()))).collect();
        for coding in [Coding::Plain, Coding::Packed] {
            let messages = coding.write(5, &states)?;
            let mut read = Vec::new();
            for message in &messages {
                assert!(message.len() <= MESSAGE_BYTES_MAX, "{}", message.len());
                let (tick, states) = coding.read(message)?;
                assert_eq!(tick, 5);
                read.extend(states);
            }
            assert_eq!(read.len(), 256);
            for ((a, before), (b, after)) in states.iter().zip(&read) {
                assert!(a == b && before.position.distance(after.position) < 0.003);
            }
        }
        Ok(())
    }
}
