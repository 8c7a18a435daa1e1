//! A light client: it sends inputs and acknowledges mutations like the real one, but reads only the
//! headers of messages.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use bevy_replicon::shared::backend::channels::{ClientChannel, ServerChannel};
use renet::ConnectionConfig;

use super::shared::Press;
use crate::course::Counts;
use crate::scene;
use crate::wired::{Playing, Wired};

/// Channel of the scene's only message, after the one for acknowledgements.
const PRESS_CHANNEL: u8 = ClientChannel::MutationAcks as u8 + 1;

/// Header of a mutate message: flags, its number for the acknowledgement, the tick of the last
/// update, its own tick.
type Header = (u8, [u8; 2], u32, u32);

/// A light client.
pub(super) struct Light {
    wired: Wired,
    player: u64,
    newest: Option<u32>,
}

impl Light {
    pub(super) fn new(server: SocketAddr, player: u64, config: ConnectionConfig) -> Result<Self> {
        Ok(Self { wired: Wired::new(server, player, config)?, player, newest: None })
    }
}

impl Playing for Light {
    fn tick(&mut self, tick: u64) -> Result<()> {
        self.wired.receive()?;
        let renet = &mut self.wired.renet;
        // Joins and leaves; renet acknowledges these itself.
        while renet.receive_message(ServerChannel::Updates as u8).is_some() {}
        let mut acknowledgements = Vec::new();
        while let Some(bytes) = renet.receive_message(ServerChannel::Mutations as u8) {
            let ((_, number, _, tick), _): (Header, _) =
                postcard::take_from_bytes(&bytes).context("a mutate message has no header")?;
            acknowledgements.extend(number);
            self.wired.counts.snapshots += u64::from(Some(tick) > self.newest);
            self.newest = self.newest.max(Some(tick));
            let snapshots = u64::from(self.newest.unwrap_or_default());
            self.wired.counts.tick = snapshots * u64::from(scene::TICK_HZ / scene::SNAPSHOT_HZ);
        }
        if !acknowledgements.is_empty() {
            renet.send_message(ClientChannel::MutationAcks as u8, acknowledgements);
        }
        let press = postcard::to_stdvec(&Press::of(self.player, tick))?;
        renet.send_message(PRESS_CHANNEL, press);
        self.wired.counts.inputs += 1;
        self.wired.transmit()
    }

    fn counts(&self) -> Counts {
        self.wired.counts
    }
}
