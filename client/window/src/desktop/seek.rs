//! Searches over UDP, in the directories that the player knows.

use phaselock::seek::{SeekView, SeekWish};
use phaselock_quic::address::Address;
use phaselock_quic::player::{PlayerKey, PlayerKeys};
use phaselock_quic::seek::Seek;

use super::connection::own_keys;
use crate::online::{Directories, Search};

impl Directories for Vec<Address> {
    fn is_empty(&self) -> bool {
        self.as_slice().is_empty()
    }

    fn can_grow(&self) -> bool {
        true
    }

    fn seek(&self, wish: SeekWish) -> Result<Box<dyn Search>, String> {
        // A key for this search only would be another one than that of the visit.
        let key = match own_keys() {
            PlayerKeys::Ephemeral => None,
            keys => Some(PlayerKey::load(&keys).map_err(|error| error.to_string())?),
        };
        let seek = Seek::start(wish, self.clone(), key).map_err(|error| error.to_string())?;
        Ok(Box::new(seek))
    }
}

impl Search for Seek {
    fn view(&mut self) -> SeekView {
        Self::view(self)
    }
}
