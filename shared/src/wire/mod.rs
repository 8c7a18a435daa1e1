//! The format: every byte that crosses the network is written and read here, and described in
//! `shared/WIRE.md`.

pub mod bits;
pub mod control;
pub mod fields;
pub mod input;
pub mod protocol;
pub mod snapshot;

/// Why a message was refused. It then changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// It ends too early.
    #[error("the message is cut short")]
    Short,
    /// It goes on after its end, or its padding is not zero.
    #[error("the message has something after its end")]
    Trailing,
    /// It is of no kind that is known here.
    #[error("the message is of an unknown kind ({0})")]
    Kind(u8),
    /// A number in it is outside of its range.
    #[error("the message's {0} is out of range")]
    Range(&'static str),
    /// It refers to a state that is not here.
    #[error("the message builds on a baseline that is not here")]
    Baseline,
    /// It is longer than its kind may be.
    #[error("the message is longer than {0} bytes")]
    Long(usize),
    /// A control message that postcard cannot read.
    #[error("the message cannot be read")]
    Unreadable,
}

/// A timestamp sent back, with how long it lay here: what a round trip is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// Low bits of the peer's clock when it sent the packet, in microseconds.
    pub time: u32,
    /// Microseconds from that packet's arrival to this packet's departure; at most
    /// [`Echo::HELD_MAX`].
    pub held: u32,
}

impl Echo {
    /// The longest time that fits: 16.7 seconds. A peer that held an echo longer leaves it out.
    pub const HELD_MAX: u32 = (1 << 24) - 1;

    /// The echo of a packet from `peer_time` that arrived `held` ago, if that is not too long.
    pub fn new(peer_time: u32, held: crate::time::Micros) -> Option<Self> {
        let held = u32::try_from(held.0).ok().filter(|held| *held <= Self::HELD_MAX)?;
        Some(Self { time: peer_time, held })
    }

    fn write(writer: &mut bits::BitWriter, echo: Option<Self>) {
        writer.flag(echo.is_some());
        if let Some(echo) = echo {
            writer.bits(u64::from(echo.time), 32);
            writer.bits(u64::from(echo.held), 24);
        }
    }

    fn read(reader: &mut bits::BitReader<'_>) -> Result<Option<Self>, WireError> {
        if !reader.flag()? {
            return Ok(None);
        }
        Ok(Some(Self { time: reader.bits(32)? as u32, held: reader.bits(24)? as u32 }))
    }
}
