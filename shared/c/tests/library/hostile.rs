//! Any functions in any order with any arguments that C can get wrong without lying about memory.

use std::ffi::{CString, c_char};
use std::ptr::{null, null_mut};
use std::sync::LazyLock;
use std::time::Duration;

use phaselock_c::exports::*;
use phaselock_c::layout::*;
use phaselock_quic::local::LocalServer;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::line::{description, join, load, options, serve};

static SERVER: LazyLock<LocalServer> = LazyLock::new(serve);

/// Texts: null, of any bytes, very long.
#[derive(Clone, Debug)]
enum Text {
    Null,
    Bytes(Vec<u8>),
}

impl Text {
    /// Calls a function with a pointer to the text.
    fn with<T>(&self, call: impl FnOnce(*const c_char) -> T) -> T {
        match self {
            Self::Null => call(null()),
            Self::Bytes(bytes) => {
                let until: Vec<_> = bytes.iter().copied().take_while(|byte| *byte != 0).collect();
                call(CString::new(until).expect("no zero").as_ptr())
            }
        }
    }
}

fn text() -> impl Strategy<Value = Text> {
    prop_oneof![
        Just(Text::Null),
        "[a-zA-Z0-9.:/#]{0,12}".prop_map(|text| Text::Bytes(text.into_bytes())),
        vec(any::<u8>(), 0..40).prop_map(Text::Bytes),
        (0_usize..6000).prop_map(|length| Text::Bytes(vec![b'x'; length])),
    ]
}

/// Servers other than ours: none has a name that would be looked up.
fn server() -> impl Strategy<Value = Text> {
    prop_oneof![
        Just(Text::Null),
        "127\\.0\\.0\\.1:[0-9/#]{0,6}".prop_map(|text| Text::Bytes(text.into_bytes())),
        vec(any::<u8>(), 0..40).prop_map(|bytes| Text::Bytes([b" !".to_vec(), bytes].concat())),
        (300_usize..6000).prop_map(|length| Text::Bytes(vec![b'x'; length])),
    ]
}

/// Files that cannot be made, or none.
fn path() -> impl Strategy<Value = Text> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml/file-").as_bytes();
    let below_a_file = vec(any::<u8>(), 0..40).prop_map(|name| [file.to_vec(), name].concat());
    prop_oneof![4 => Just(Text::Null), 1 => below_a_file.prop_map(Text::Bytes)]
}

/// A call. Clients and games are chosen among those that were made, or are any number.
#[derive(Clone, Debug)]
enum Call {
    Load(Vec<u8>, bool),
    /// Loads our description with one byte changed.
    LoadChanged(usize, u8),
    Kind(Handle, Text),
    Field(Handle, i32, Text),
    Connect {
        game: Handle,
        server: Option<Text>,
        texts: (Text, Text, Text, Text),
        abi: u32,
        flags: u32,
        kind: i32,
    },
    FieldCount(Handle, i32),
    Frame(Handle, Option<Vec<f64>>, usize),
    FrameMisaligned(Handle),
    WasUsed(Handle),
    Error(i32, usize),
    Entities(Handle, usize),
    Players(Handle, usize),
    Event(Handle, bool),
    Status(Handle, bool),
    Setup(Handle, usize),
    Say(Handle, Text),
    Request(Handle, Vec<u8>, Option<usize>),
    Close(Handle, Text),
    Sleep,
}

#[derive(Clone, Copy, Debug)]
enum Handle {
    Made(usize),
    Any(u64),
}

impl Handle {
    fn of(self, made: &[u64]) -> u64 {
        match self {
            Self::Made(at) if !made.is_empty() => made[at % made.len()],
            Self::Made(at) => at as u64,
            Self::Any(handle) => handle,
        }
    }
}

fn handle() -> impl Strategy<Value = Handle> {
    prop_oneof![8 => (0_usize..8).prop_map(Handle::Made), 1 => any::<u64>().prop_map(Handle::Any)]
}

fn call() -> impl Strategy<Value = Call> {
    let number = prop_oneof![Just(f64::NAN), Just(f64::INFINITY), -2.0..2.0, any::<f64>()];
    let kind = prop_oneof![-2_i32..4, any::<i32>()];
    let connect = (
        handle(),
        prop_oneof![3 => Just(None), 1 => server().prop_map(Some)],
        (text(), text(), text(), path()),
        prop_oneof![9 => Just(PHASELOCK_ABI), 1 => any::<u32>()],
        prop_oneof![4 => Just(0), 4 => Just(1), 1 => 2_u32..4, 1 => any::<u32>()],
        prop_oneof![4 => Just(0), 1 => kind.clone()],
    );
    let request = (
        handle(),
        vec(any::<u8>(), 0..300),
        prop_oneof![3 => Just(None), 1 => Just(Some(usize::MAX)), 1 => Just(Some(100_000))],
    );
    let input = prop_oneof![4 => vec(number, 1).prop_map(Some), 1 => Just(None)];
    prop_oneof![
        1 => (vec(any::<u8>(), 0..60), any::<bool>())
            .prop_map(|(bytes, null)| Call::Load(bytes, null)),
        2 => (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Call::LoadChanged(at, byte)),
        1 => (handle(), any::<i32>()).prop_map(|(game, kind)| Call::FieldCount(game, kind)),
        1 => handle().prop_map(Call::FrameMisaligned),
        1 => handle().prop_map(Call::WasUsed),
        1 => (any::<i32>(), 0_usize..9).prop_map(|(code, capacity)| Call::Error(code, capacity)),
        1 => (handle(), text()).prop_map(|(game, name)| Call::Kind(game, name)),
        1 => (handle(), kind, text()).prop_map(|(game, kind, name)| Call::Field(game, kind, name)),
        2 => connect.prop_map(|(game, server, texts, abi, flags, kind)| {
            Call::Connect { game, server, texts, abi, flags, kind }
        }),
        6 => (handle(), input, prop_oneof![4 => Just(1), 1 => 0_usize..30, 1 => Just(usize::MAX)])
            .prop_map(|(client, input, count)| Call::Frame(client, input, count)),
        2 => (handle(), 0_usize..9).prop_map(|(client, capacity)| Call::Entities(client, capacity)),
        1 => (handle(), 0_usize..9).prop_map(|(client, capacity)| Call::Players(client, capacity)),
        2 => (handle(), any::<bool>()).prop_map(|(client, null)| Call::Event(client, null)),
        1 => (handle(), any::<bool>()).prop_map(|(client, null)| Call::Status(client, null)),
        1 => (handle(), 0_usize..9).prop_map(|(client, capacity)| Call::Setup(client, capacity)),
        1 => (handle(), text()).prop_map(|(client, text)| Call::Say(client, text)),
        1 => request.prop_map(|(client, bytes, length)| Call::Request(client, bytes, length)),
        1 => (handle(), text()).prop_map(|(client, text)| Call::Close(client, text)),
        1 => Just(Call::Sleep),
    ]
}

/// An input: one number.
static INPUT: f64 = 1.0;

/// Predicts nonsense.
unsafe extern "C" fn nonsense(step: *const Step) {
    // SAFETY: the library passes a valid step, whose lists have the longest record's length.
    unsafe {
        for at in 0..PHASELOCK_FIELDS_MAX {
            *(*step).fields.add(at) = [f64::NAN, f64::MIN, 1e9, -0.0][at % 4];
        }
    }
}

/// What C has so far.
struct Program {
    games: Vec<u64>,
    clients: Vec<u64>,
}

impl Program {
    /// Makes a call with memory that is as long as it says. Returns the result.
    fn make(&mut self, call: Call) -> i32 {
        let client = |handle: Handle| handle.of(&self.clients);
        // SAFETY: each pointer is null, or has as much memory behind it as the call says; lengths
        // beyond a limit are refused before anything is read.
        unsafe {
            match call {
                Call::Load(bytes, null) => {
                    let mut game = 0;
                    let to = if null { null_mut() } else { &raw mut game };
                    phaselock_load_game(bytes.as_ptr().cast(), bytes.len(), to)
                }
                Call::LoadChanged(at, byte) => {
                    let mut bytes = description().into_bytes();
                    let at = at % bytes.len();
                    bytes[at] = byte;
                    let mut game = 0;
                    phaselock_load_game(bytes.as_ptr().cast(), bytes.len(), &raw mut game)
                }
                Call::FieldCount(game, kind) => phaselock_field_count(game.of(&self.games), kind),
                Call::FrameMisaligned(handle) => {
                    let input = [0.0_f64; 2];
                    phaselock_frame(client(handle), input.as_ptr().wrapping_byte_add(1), 1)
                }
                Call::WasUsed(handle) => phaselock_input_was_used(client(handle)),
                Call::Error(code, capacity) => {
                    assert!(phaselock_abi() == PHASELOCK_ABI && !phaselock_version().is_null());
                    assert!(!phaselock_error_text(code).is_null());
                    let mut room = Vec::with_capacity(capacity);
                    phaselock_error_detail(room.as_mut_ptr(), capacity)
                }
                Call::Kind(game, name) => {
                    name.with(|name| phaselock_kind(game.of(&self.games), name))
                }
                Call::Field(game, kind, name) => {
                    name.with(|name| phaselock_field(game.of(&self.games), kind, name))
                }
                Call::Connect { .. } => self.connect(&call),
                Call::Frame(handle, input, count) => match input {
                    Some(input) if count <= input.len() || count > PHASELOCK_FIELDS_MAX => {
                        phaselock_frame(client(handle), input.as_ptr(), count)
                    }
                    _ => phaselock_frame(client(handle), null(), count),
                },
                Call::Entities(handle, capacity) => {
                    let mut room = Vec::with_capacity(capacity);
                    phaselock_entities(client(handle), room.as_mut_ptr(), capacity)
                }
                Call::Players(handle, capacity) => {
                    let mut room = Vec::with_capacity(capacity);
                    phaselock_players(client(handle), room.as_mut_ptr(), capacity)
                }
                Call::Event(handle, null) => {
                    let mut room = Vec::<PolledEvent>::with_capacity(1);
                    let to = if null { null_mut() } else { room.as_mut_ptr() };
                    phaselock_poll_event(client(handle), to)
                }
                Call::Status(handle, null) => {
                    let mut status = ClientStatus::default();
                    let to = if null { null_mut() } else { &raw mut status };
                    phaselock_get_status(client(handle), to)
                }
                Call::Setup(handle, capacity) => {
                    let mut room = Vec::with_capacity(capacity);
                    phaselock_setup(client(handle), room.as_mut_ptr(), capacity)
                }
                Call::Say(handle, text) => text.with(|text| phaselock_say(client(handle), text)),
                Call::Request(handle, bytes, length) => {
                    let length = length.unwrap_or(bytes.len());
                    phaselock_request(client(handle), bytes.as_ptr(), length)
                }
                Call::Close(handle, text) => {
                    text.with(|text| phaselock_close(client(handle), text))
                }
                Call::Sleep => {
                    std::thread::sleep(Duration::from_millis(10));
                    0
                }
            }
        }
    }

    /// Joins our server, or one with any name.
    fn connect(&mut self, call: &Call) -> i32 {
        let Call::Connect { game, server, texts, abi, flags, kind } = call else { return 0 };
        let address = Text::Bytes(SERVER.address().to_string().into_bytes());
        let server = server.as_ref().unwrap_or(&address);
        let (name, password, room, file) = texts;
        let (unused, mut client) = (CString::default(), 0);
        let result = server.with(|server| {
            name.with(|name| {
                password.with(|password| {
                    let mut join = |room, file| {
                        let options = JoinOptions {
                            abi: *abi,
                            flags: *flags,
                            server,
                            name,
                            password,
                            room,
                            known_hosts: file,
                            key_file: file,
                            predict: Some(nonsense),
                            own_kind: *kind,
                            ..options(game.of(&self.games), &unused, &unused)
                        };
                        // SAFETY: texts and structure live during the call.
                        unsafe { phaselock_connect(&raw const options, &raw mut client) }
                    };
                    room.with(|room| file.with(|file| join(room, file)))
                })
            })
        });
        assert_eq!(result == 0, client != 0);
        if result == 0 {
            self.clients.push(client);
        }
        result
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn nothing_panics_or_hangs(calls in vec(call(), 1..120)) {
        let game = load(&description()).expect("a description");
        let mut program = Program { games: vec![game], clients: Vec::new() };
        for call in calls {
            let told = format!("{call:?}");
            let result = program.make(call);
            prop_assert!((-8..100_000).contains(&result), "{result} of {told}");
        }
        for client in program.clients {
            // SAFETY: no reason is given.
            let result = unsafe { phaselock_close(client, null()) };
            prop_assert!(result == 0 || result == -2);
        }
    }
}

#[test]
fn two_threads_may_use_one_client() {
    let game = load(&description()).expect("a description");
    let client = join(game, &SERVER.address().to_string(), "Eve", Some(nonsense));
    let frames = || {
        let mut answered = 0;
        for _ in 0..2000 {
            // SAFETY: one number.
            let result = unsafe { phaselock_frame(client, &raw const INPUT, 1) };
            assert!(result >= 0 || result == -3, "{result}");
            answered += u32::from(result >= 0);
        }
        answered
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(frames);
        let own = frames();
        assert!(own + other.join().expect("no panic") > 0, "each call found the client busy");
    });
    // SAFETY: no reason is given.
    assert_eq!(unsafe { phaselock_close(client, null()) }, 0);
}
