//! The exported functions, as the header declares and documents them.
//!
//! Each reads its arguments through `raw`, calls safe code, and returns 0 or a number, or a
//! negative code. No panic leaves it.
#![allow(unsafe_code, reason = "exports functions to C, and passes on its pointers")]
#![allow(missing_docs, clippy::missing_safety_doc, reason = "the header documents them")]

use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use phaselock::fields::Kind;

use crate::described::{Context, Prediction};
use crate::description::GameTables;
use crate::error::{self, Error, ErrorCode};
use crate::guest::{Guest, Wish};
use crate::layout::*;
use crate::{raw, registry};

/// Calls safe code: errors and panics become codes, and their details are kept.
fn guarded(call: impl FnOnce() -> Result<i32, Error>) -> i32 {
    // After a panic, the client's lock is poisoned, and no other state can be half changed.
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(number)) => number,
        Ok(Err(error)) => error::note(error),
        Err(_) => error::note(ErrorCode::Broken.into()),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn phaselock_abi() -> u32 {
    PHASELOCK_ABI
}

#[unsafe(no_mangle)]
pub extern "C" fn phaselock_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

#[unsafe(no_mangle)]
pub extern "C" fn phaselock_error_text(code: i32) -> *const c_char {
    ErrorCode::text(code).as_ptr()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn phaselock_error_detail(text: *mut c_char, capacity: usize) -> i32 {
    // SAFETY: C promises the capacity.
    guarded(|| unsafe { raw::fill_text(text, capacity, &error::last_detail(), "text") })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn phaselock_load_game(
    description: *const c_char,
    length: usize,
    game: *mut u64,
) -> i32 {
    guarded(|| {
        // SAFETY: C promises that this can be written.
        unsafe { raw::put(game, 0, "game") }?;
        let description = description.cast::<u8>();
        // SAFETY: C promises the length.
        let bytes = unsafe {
            raw::copied(description, length, PHASELOCK_DESCRIPTION_BYTES_MAX, "description")
        };
        let text = String::from_utf8(bytes?)
            .map_err(|_| Error::argument("the description is not UTF-8"))?;
        let handle = registry::load_game(text)?;
        // SAFETY: as above.
        unsafe { raw::put(game, handle, "game") }?;
        Ok(0)
    })
}

/// Returns the record of a kind, or that of the input.
fn record(tables: &GameTables, kind: i32) -> Result<&Kind, Error> {
    if kind == PHASELOCK_INPUT {
        return Ok(&tables.input);
    }
    let kinds = tables.kinds;
    let found = usize::try_from(kind).ok().and_then(|kind| kinds.get(kind));
    found.ok_or_else(|| {
        Error::argument(format!("the game has {} kinds, no kind {kind}", kinds.len()))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn phaselock_kind(game: u64, name: *const c_char) -> i32 {
    guarded(|| {
        // SAFETY: C promises a text.
        let name = unsafe { raw::text(name, PHASELOCK_WORD_BYTES_MAX, "name") }?;
        let found = phaselock::fields::find_kind(registry::game(game)?.kinds, &name);
        found.map(i32::from).map_err(Error::argument)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn phaselock_field(game: u64, kind: i32, name: *const c_char) -> i32 {
    guarded(|| {
        // SAFETY: C promises a text.
        let name = unsafe { raw::text(name, PHASELOCK_WORD_BYTES_MAX, "name") }?;
        let record = record(registry::game(game)?, kind)?;
        let found = (0..).zip(record.fields).find(|(_, field)| field.is_labelled(&name));
        let detail = || Error::argument(format!("{} has no field called '{name}'", record.name));
        found.map(|(at, _)| at).ok_or_else(detail)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn phaselock_field_count(game: u64, kind: i32) -> i32 {
    guarded(|| Ok(record(registry::game(game)?, kind)?.fields.len() as i32))
}

/// Returns the kind of the entity to predict; `None` for any.
fn own_kind(tables: &GameTables, options: &JoinOptions) -> Result<Option<u8>, Error> {
    let kind = options.own_kind;
    if options.flags & PHASELOCK_PREDICT_KIND != 0 {
        let found = u8::try_from(kind).ok().filter(|at| usize::from(*at) < tables.kinds.len());
        let detail =
            || format!("own_kind: the game has {} kinds, no kind {kind}", tables.kinds.len());
        return found.map(Some).ok_or_else(|| Error::argument(detail()));
    }
    if kind != 0 {
        return Err(Error::argument("own_kind needs the flag PHASELOCK_PREDICT_KIND"));
    }
    Ok(None)
}

/// Reads how to join, and with which game.
///
/// # Safety
///
/// The pointers are null, or texts can be read there.
unsafe fn wish_of(options: &JoinOptions) -> Result<(Context, Wish), Error> {
    let known = PHASELOCK_JOIN_TO_WATCH | PHASELOCK_PREDICT_KIND;
    if options.flags & !known != 0 || options.reserved != 0 {
        return Err(Error::argument("unknown flags; set the whole structure to zero first"));
    }
    let tables = registry::game(options.game)?;
    let kind = own_kind(tables, options)?;
    let user = options.user.expose_provenance();
    let prediction = options.predict.map(|predict| Prediction { predict, user, kind });
    // SAFETY: the caller promises texts.
    let wish = unsafe {
        let path = |text, name| {
            raw::optional_text(text, PHASELOCK_PATH_BYTES_MAX, name)
                .map(|path| path.map(PathBuf::from))
        };
        Wish {
            server: raw::text(options.server, PHASELOCK_WORD_BYTES_MAX, "server")?,
            name: raw::text(options.name, PHASELOCK_LINE_BYTES_MAX, "name")?,
            password: raw::optional_text(options.password, PHASELOCK_LINE_BYTES_MAX, "password")?,
            room: raw::optional_text(options.room, PHASELOCK_LINE_BYTES_MAX, "room")?,
            known_hosts: path(options.known_hosts, "known_hosts")?,
            key_file: path(options.key_file, "key_file")?,
            watches: options.flags & PHASELOCK_JOIN_TO_WATCH != 0,
        }
    };
    Ok((Context { tables, prediction }, wish))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn phaselock_connect(options: *const JoinOptions, client: *mut u64) -> i32 {
    guarded(|| {
        // SAFETY: C promises that this can be written.
        unsafe { raw::put(client, 0, "client") }?;
        // SAFETY: C promises the version first; a structure of another one may be shorter.
        let abi = unsafe { raw::one(options.cast::<u32>(), "options") }?;
        if abi != PHASELOCK_ABI {
            let detail = format!(
                "the program was compiled with version {abi} of the interface, and the library has \
                 {PHASELOCK_ABI}; set options.abi to PHASELOCK_ABI, or use the library's own header"
            );
            return Err(Error::new(ErrorCode::OtherVersion, detail));
        }
        // SAFETY: C promises the structure of this version. Any bytes are valid numbers and
        // pointers, and `predict` is null or a function.
        let options = unsafe { raw::one(options, "options") }?;
        // SAFETY: C promises null or texts.
        let (context, wish) = unsafe { wish_of(&options) }?;
        let handle = registry::add(|| Guest::join(context, wish))?;
        // SAFETY: as above.
        unsafe { raw::put(client, handle, "client") }?;
        Ok(0)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn phaselock_frame(client: u64, input: *const f64, count: usize) -> i32 {
    guarded(|| {
        // SAFETY: C promises the count.
        let input = unsafe { raw::copied(input, count, PHASELOCK_FIELDS_MAX, "input") }?;
        registry::with(client, |guest| guest.frame(&input))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn phaselock_input_was_used(client: u64) -> i32 {
    guarded(|| registry::with(client, |guest| Ok(guest.was_used().into())))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn phaselock_entities(
    client: u64,
    entities: *mut ShownEntity,
    capacity: usize,
) -> i32 {
    // SAFETY: C promises the capacity.
    guarded(|| {
        registry::with(client, |guest| unsafe {
            raw::fill(entities, capacity, guest.entities(), "entities")
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn phaselock_players(
    client: u64,
    players: *mut ListedPlayer,
    capacity: usize,
) -> i32 {
    // SAFETY: C promises the capacity.
    guarded(|| {
        registry::with(client, |guest| unsafe {
            raw::fill(players, capacity, guest.players(), "players")
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn phaselock_poll_event(client: u64, event: *mut PolledEvent) -> i32 {
    guarded(|| {
        registry::with(client, |guest| {
            if event.is_null() || !event.is_aligned() {
                return Err(Error::argument("event is NULL or not aligned"));
            }
            let Some(next) = guest.poll_event() else { return Ok(0) };
            // SAFETY: C promises that this can be written.
            unsafe { raw::put(event, next, "event") }?;
            Ok(1)
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn phaselock_get_status(client: u64, status: *mut ClientStatus) -> i32 {
    guarded(|| {
        let now = registry::with(client, |guest| Ok(guest.status()))?;
        // SAFETY: C promises that this can be written.
        unsafe { raw::put(status, now, "status") }?;
        Ok(now.state)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn phaselock_setup(client: u64, bytes: *mut u8, capacity: usize) -> i32 {
    guarded(|| {
        let setup = registry::with(client, |guest| Ok(guest.setup()))?;
        // SAFETY: C promises the capacity.
        unsafe { raw::fill(bytes, capacity, setup.into_iter(), "bytes") }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn phaselock_say(client: u64, text: *const c_char) -> i32 {
    guarded(|| {
        // SAFETY: C promises a text.
        let text = unsafe { raw::text(text, PHASELOCK_LINE_BYTES_MAX, "text") }?;
        registry::with(client, |guest| guest.say(&text))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn phaselock_request(client: u64, bytes: *const u8, length: usize) -> i32 {
    guarded(|| {
        // SAFETY: C promises the length.
        let bytes = unsafe { raw::copied(bytes, length, PHASELOCK_REQUEST_BYTES_MAX, "bytes") }?;
        registry::with(client, |guest| guest.request(bytes))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn phaselock_close(client: u64, reason: *const c_char) -> i32 {
    guarded(|| {
        // SAFETY: C promises null or a text.
        let reason = unsafe { raw::optional_text(reason, PHASELOCK_LINE_BYTES_MAX, "reason") }?;
        registry::remove(client)?.close(&reason.unwrap_or_default());
        Ok(0)
    })
}
