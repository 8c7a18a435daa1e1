//! Games and clients by handle: numbers that C keeps, and that are never used twice.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use crate::described::{self, Context, DescribedGame};
use crate::description::{self, GameTables};
use crate::error::{Error, ErrorCode};
use crate::guest::Guest;
use crate::layout::{PHASELOCK_CLIENTS_MAX, PHASELOCK_GAMES_MAX};

/// A description and its tables, which are never made twice.
#[derive(Debug)]
struct LoadedGame {
    text: String,
    /// `None` if the fields do not have the stated hash. Checking the hash needs leaked tables, so
    /// a rejected description also counts towards the limit.
    tables: Option<&'static GameTables>,
}

impl LoadedGame {
    fn tables(&self) -> Result<&'static GameTables, Error> {
        let detail = "in the description, the fields do not have the hash that is stated for them";
        self.tables.ok_or_else(|| Error::new(ErrorCode::BadDescription, detail))
    }
}

static GAMES: Mutex<Vec<LoadedGame>> = Mutex::new(Vec::new());

/// Loads a game, and returns its handle: that of an earlier call with an equal description, or a
/// new one.
pub(crate) fn load_game(text: String) -> Result<u64, Error> {
    let mut games = lock(&GAMES);
    if let Some(at) = games.iter().position(|game| game.text == text) {
        return games[at].tables().map(|_| at as u64 + 1);
    }
    if games.len() >= PHASELOCK_GAMES_MAX {
        let detail = format!("this process has loaded {PHASELOCK_GAMES_MAX} games, the maximum");
        return Err(Error::new(ErrorCode::TooMany, detail));
    }
    let checked = description::read(&text)?;
    let hash = checked.hash;
    let tables: &'static _ = Box::leak(Box::new(checked.keep()));
    let context = described::enter(Context { tables, prediction: None });
    let own = phaselock::wire::protocol::fields_hash::<DescribedGame>();
    drop(context);
    let game = LoadedGame { text, tables: Some(tables).filter(|_| own == hash) };
    let is_good = game.tables().map(drop);
    games.push(game);
    is_good.map(|()| games.len() as u64)
}

/// Returns a loaded game.
pub(crate) fn game(handle: u64) -> Result<&'static GameTables, Error> {
    let at = usize::try_from(handle).ok().and_then(|handle| handle.checked_sub(1));
    let games = lock(&GAMES);
    at.and_then(|at| games.get(at)).ok_or(ErrorCode::BadHandle)?.tables()
}

/// A place for a client. The number of its clients so far is part of their handles.
#[derive(Debug)]
struct Place {
    generation: u32,
    client: Option<Arc<Mutex<Guest>>>,
}

static PLACES: Mutex<Vec<Place>> = Mutex::new(Vec::new());

/// Lets a client join unless there are too many, and returns its handle. Joining only starts a
/// thread, so the other clients hardly wait for the lock.
pub(crate) fn add(join: impl FnOnce() -> Result<Guest, Error>) -> Result<u64, Error> {
    let mut places = lock(&PLACES);
    let free = places.iter().position(|it| it.client.is_none() && it.generation < u32::MAX);
    let at = free.unwrap_or(places.len());
    if at >= PHASELOCK_CLIENTS_MAX {
        let detail = format!("this process has {PHASELOCK_CLIENTS_MAX} clients, the maximum");
        return Err(Error::new(ErrorCode::TooMany, detail));
    }
    let guest = join()?;
    if at == places.len() {
        places.push(Place { generation: 0, client: None });
    }
    let place = &mut places[at];
    place.generation += 1;
    place.client = Some(Arc::new(Mutex::new(guest)));
    Ok(u64::from(place.generation) << 32 | at as u64)
}

/// Returns the index of a handle's place.
fn place_of(places: &[Place], handle: u64) -> Option<usize> {
    let at = (handle & u64::from(u32::MAX)) as usize;
    let place = places.get(at)?;
    (place.client.is_some() && u64::from(place.generation) == handle >> 32).then_some(at)
}

/// Calls a function with a client, in the context of its game.
pub(crate) fn with<T>(
    handle: u64,
    call: impl FnOnce(&mut Guest) -> Result<T, Error>,
) -> Result<T, Error> {
    let client = {
        let places = lock(&PLACES);
        let at = place_of(&places, handle).ok_or(ErrorCode::BadHandle)?;
        places[at].client.clone().ok_or(ErrorCode::BadHandle)?
    };
    // Waiting would be for ever if this is the client's own prediction.
    let mut guest = match client.try_lock() {
        Ok(guest) => guest,
        Err(TryLockError::WouldBlock) => return Err(ErrorCode::Busy.into()),
        Err(TryLockError::Poisoned(_)) => return Err(ErrorCode::Broken.into()),
    };
    let _entered = described::enter(guest.context());
    call(&mut guest)
}

/// Takes a client away from its handle, unless it is in a call.
pub(crate) fn remove(handle: u64) -> Result<Guest, Error> {
    let mut places = lock(&PLACES);
    let at = place_of(&places, handle).ok_or(ErrorCode::BadHandle)?;
    let client = places[at].client.take().ok_or(ErrorCode::BadHandle)?;
    match Arc::try_unwrap(client) {
        Ok(client) => Ok(client.into_inner().unwrap_or_else(PoisonError::into_inner)),
        Err(client) => {
            places[at].client = Some(client);
            Err(ErrorCode::Busy.into())
        }
    }
}

/// Locks a list. Nothing panics halfway through a change of one.
fn lock<T>(list: &Mutex<T>) -> MutexGuard<'_, T> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}
