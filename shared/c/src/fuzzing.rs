//! What the fuzz targets call: the safe code below the exported functions. Not part of the C or
//! the Rust interface.
#![allow(missing_docs, reason = "for our own tests")]

use phaselock::client::{Output, Session};
use phaselock::fields::Field;
use phaselock::identity::Credentials;
use phaselock::limits::FIELDS_MAX;
use phaselock::time::LocalTime;
use phaselock::wire::disconnect::Disconnect;

use crate::described::{self, Context, Prediction};
use crate::error::Error;
use crate::guest::Wish;
use crate::layout::{ClientStatus, ListedPlayer, PolledEvent, ShownEntity, Step};
use crate::play::{self, Play};
use crate::{description, registry};

/// Reads a description without keeping it. Returns the fields of its records: the input's, then
/// those of each kind.
///
/// # Errors
///
/// Says why the description was refused.
pub fn description(text: &str) -> Result<Vec<Vec<Field>>, String> {
    description::read(text).map(|game| game.fields()).map_err(|error| error.detail)
}

/// A prediction that writes what no rules would: numbers of any size into all fields.
#[allow(unsafe_code, reason = "writes the fields, as a function in C would")]
unsafe extern "C" fn nonsense(step: *const Step) {
    // SAFETY: the library passes a valid step, whose lists have the longest record's length.
    unsafe {
        let step = &*step;
        for at in 0..FIELDS_MAX {
            let input = *step.input.add(at);
            let odd = [f64::NAN, f64::NEG_INFINITY, 1e300, input][(at + step.tick as usize) % 4];
            let field = step.fields.add(at);
            *field = if step.tick.is_multiple_of(5) { odd } else { *field + input };
        }
    }
}

/// How a program joins, as in `phaselock_options`.
#[derive(Debug)]
pub struct Joining<'a> {
    pub description: String,
    pub server: &'a str,
    pub name: &'a str,
    pub password: Option<&'a str>,
    pub room: Option<&'a str>,
    pub watches: bool,
    pub predicts: bool,
    pub own_kind: Option<u8>,
}

/// A client of a described game without a network: the caller is its network and its clock.
#[derive(Debug)]
pub struct Client {
    context: Context,
    session: Session,
    play: Play,
}

impl Client {
    /// Starts joining.
    ///
    /// # Errors
    ///
    /// What `phaselock_load_game` or `phaselock_connect` would refuse.
    pub fn join(how: Joining<'_>, now: LocalTime) -> Result<Self, String> {
        Self::try_join(how, now).map_err(|error| error.detail)
    }

    fn try_join(how: Joining<'_>, now: LocalTime) -> Result<Self, Error> {
        let tables = registry::game(registry::load_game(how.description)?)?;
        let prediction = Prediction { predict: nonsense, user: 0, kind: how.own_kind };
        let context = Context { tables, prediction: Some(prediction).filter(|_| how.predicts) };
        let wish = Wish {
            server: how.server.into(),
            name: how.name.into(),
            password: how.password.map(Into::into),
            room: how.room.map(Into::into),
            known_hosts: None,
            key_file: None,
            watches: how.watches,
        };
        let _entered = described::enter(context);
        let (_, config) = wish.read()?;
        Ok(Self { context, session: Session::new(config, now), play: Play::default() })
    }

    pub fn connected(&mut self, now: LocalTime) {
        let _entered = described::enter(self.context);
        self.session.handle_connected(now, Credentials::default());
    }

    pub fn control(&mut self, body: &[u8], now: LocalTime) {
        let _entered = described::enter(self.context);
        self.session.handle_control(body, now);
    }

    /// Returns whether the datagram was accepted.
    pub fn datagram(&mut self, bytes: &[u8], now: LocalTime) -> bool {
        let _entered = described::enter(self.context);
        self.session.handle_datagram(bytes, now).is_some()
    }

    pub fn lost(&mut self, reason: Disconnect, now: LocalTime) {
        let _entered = described::enter(self.context);
        self.session.handle_lost(now, reason);
    }

    /// Runs `phaselock_frame`. Returns whether the input has the right number of fields.
    pub fn frame(&mut self, input: &[f64], now: LocalTime) -> bool {
        let _entered = described::enter(self.context);
        let Ok(input) = play::command(input) else { return false };
        self.session.handle_timeout(now);
        self.play.frame(&mut self.session, now, input);
        true
    }

    pub fn say(&mut self, text: &str) {
        let _entered = described::enter(self.context);
        let _ = self.session.chat(text);
    }

    pub fn request(&mut self, bytes: &[u8]) {
        let _entered = described::enter(self.context);
        let _ = self.session.request_bytes(bytes.to_vec());
    }

    /// Takes the next output to the network.
    pub fn poll_output(&mut self) -> Option<Output> {
        let _entered = described::enter(self.context);
        self.session.poll_output()
    }

    pub fn poll_event(&mut self) -> Option<PolledEvent> {
        let _entered = described::enter(self.context);
        play::poll_event(&mut self.session)
    }

    pub fn entities(&self) -> Vec<ShownEntity> {
        let _entered = described::enter(self.context);
        self.play.entities(&self.session).collect()
    }

    pub fn players(&self) -> Vec<ListedPlayer> {
        let _entered = described::enter(self.context);
        play::players(&self.session).collect()
    }

    pub fn status(&self, now: LocalTime) -> ClientStatus {
        let _entered = described::enter(self.context);
        play::status(&self.session, now)
    }
}
