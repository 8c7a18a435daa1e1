//! Output over the PulseAudio protocol, through the sound server's socket.

use std::ffi::CString;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use pulseaudio::protocol::stream::{BufferAttr, StreamFlags};
use pulseaudio::protocol::{
    AuthParams, AuthReply, ChannelMap, ChannelVolume, Command, CommandReply,
    CreatePlaybackStreamReply, DEFAULT_SINK, MAX_VERSION, PlaybackStreamParams, Prop, Props,
    ProtocolError, SampleFormat, SampleSpec, SetClientNameReply, read_reply_message,
    write_command_message, write_memblock,
};

use super::{BUFFER_MS, OutputError, Report, SoundStatus, Source, lock};
use crate::SAMPLE_RATE;

/// Bytes of a frame: two samples of 32 bits.
const FRAME_BYTES: usize = 8;
const BUFFER_BYTES: u32 = SAMPLE_RATE * BUFFER_MS / 1000 * FRAME_BYTES as u32;
/// Maximum number of frames sent at once; a server asks for some hundreds. A quarter of a second.
const FRAMES_MAX: usize = SAMPLE_RATE as usize / 4;
/// Maximum size of a message from the server in bytes: those about a stream have some hundreds.
const MESSAGE_BYTES_MAX: usize = 64 * 1024;
/// Bytes before each message: length, channel, offset and flags.
const HEAD_BYTES: usize = 20;
/// Maximum number of messages read while waiting for an answer.
const MESSAGES_MAX: usize = 64;
/// Timeout for an answer from the server.
const ANSWER: Duration = Duration::from_secs(2);
/// Time without a request after which orders are dropped: the device sleeps.
const QUIET: Duration = Duration::from_millis(250);

/// A connection to the sound server.
struct Server {
    socket: BufReader<UnixStream>,
    version: u16,
    sequence: u32,
    message: Vec<u8>,
}

/// Plays until the sender of orders is gone.
pub(super) fn play(source: &Mutex<Source>, report: &Report) -> Result<(), OutputError> {
    let mut server = Server::connect()?;
    let stream = server.open_stream()?;
    let device = stream.sink_name.as_ref().map(|name| name.to_string_lossy().into_owned());
    report.set(SoundStatus::Playing(device));
    server.serve(source, &stream)
}

impl Server {
    fn connect() -> Result<Self, OutputError> {
        let socket = paths().into_iter().find_map(|path| UnixStream::connect(path).ok());
        let socket = socket.ok_or(OutputError::NoServer)?;
        socket.set_read_timeout(Some(ANSWER)).map_err(failed)?;
        socket.set_write_timeout(Some(ANSWER)).map_err(failed)?;
        let socket = BufReader::new(socket);
        let mut server = Self { socket, version: MAX_VERSION, sequence: 0, message: Vec::new() };
        let cookie = pulseaudio::cookie_path_from_env().and_then(|path| std::fs::read(path).ok());
        let auth = AuthParams {
            version: MAX_VERSION,
            supports_shm: false,
            supports_memfd: false,
            cookie: cookie.unwrap_or_default(),
        };
        let answer: AuthReply = server.ask(&Command::Auth(auth))?;
        server.version = answer.version.min(MAX_VERSION);
        let mut about = Props::new();
        about.set(Prop::ApplicationName, c"Phaselock");
        if let Ok(id) = CString::new(std::process::id().to_string()) {
            about.set(Prop::ApplicationProcessId, id);
        }
        let _: SetClientNameReply = server.ask(&Command::SetClientName(about))?;
        Ok(server)
    }

    fn open_stream(&mut self) -> Result<CreatePlaybackStreamReply, OutputError> {
        let mut about = Props::new();
        about.set(Prop::MediaName, c"Game");
        about.set(Prop::MediaRole, c"game");
        self.ask(&Command::CreatePlaybackStream(PlaybackStreamParams {
            sample_spec: SampleSpec {
                format: SampleFormat::Float32Le,
                channels: 2,
                sample_rate: SAMPLE_RATE,
            },
            channel_map: ChannelMap::stereo(),
            cvolume: Some(ChannelVolume::norm(2)),
            sink_name: Some(DEFAULT_SINK.to_owned()),
            buffer_attr: BufferAttr {
                max_length: u32::MAX,
                target_length: BUFFER_BYTES,
                // A late frame is heard as a gap, not as a restarting stream.
                pre_buffering: 0,
                minimum_request_length: BUFFER_BYTES / 3,
                ..BufferAttr::default()
            },
            flags: StreamFlags { adjust_latency: true, ..StreamFlags::default() },
            props: about,
            ..PlaybackStreamParams::default()
        }))
    }

    /// Sends a command and reads its answer.
    fn ask<R: CommandReply>(&mut self, command: &Command) -> Result<R, OutputError> {
        let sequence = self.sequence;
        self.sequence += 1;
        write_command_message(self.socket.get_mut(), sequence, command, self.version)
            .map_err(refused)?;
        for _ in 0..MESSAGES_MAX {
            self.read_message()?;
            match read_reply_message(&mut &self.message[..], self.version) {
                Ok((answered, reply)) if answered == sequence => return Ok(reply),
                Ok(_) | Err(ProtocolError::UnexpectedCommand(_)) => {}
                Err(error) => return Err(refused(error)),
            }
        }
        Err(OutputError::Device("the sound server does not answer".into()))
    }

    /// Reads a message with its header.
    fn read_message(&mut self) -> Result<(), OutputError> {
        self.message.resize(HEAD_BYTES, 0);
        self.socket.read_exact(&mut self.message).map_err(failed)?;
        let length = self.message[..4].iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        if length > MESSAGE_BYTES_MAX {
            return Err(OutputError::Device(format!("it sent a message of {length} bytes")));
        }
        self.message.resize(HEAD_BYTES + length, 0);
        self.socket.read_exact(&mut self.message[HEAD_BYTES..]).map_err(failed)
    }

    /// Sends frames whenever the server asks for them.
    fn serve(
        &mut self,
        source: &Mutex<Source>,
        stream: &CreatePlaybackStreamReply,
    ) -> Result<(), OutputError> {
        self.socket.get_ref().set_read_timeout(Some(QUIET)).map_err(failed)?;
        let mut frames = vec![[0.0; 2]; FRAMES_MAX];
        let mut bytes = Vec::with_capacity(FRAMES_MAX * FRAME_BYTES);
        let mut wanted = stream.requested_bytes as usize;
        loop {
            while wanted >= FRAME_BYTES {
                let count = (wanted / FRAME_BYTES).min(FRAMES_MAX);
                wanted -= count * FRAME_BYTES;
                if lock(source).fill(&mut frames[..count]).is_break() {
                    return Ok(());
                }
                bytes.clear();
                let samples = frames[..count].iter().flatten();
                samples.for_each(|sample| bytes.extend_from_slice(&sample.to_le_bytes()));
                let socket = self.socket.get_mut();
                write_memblock(socket, stream.channel, &bytes, 0).map_err(refused)?;
                socket.flush().map_err(failed)?;
            }
            match self.socket.fill_buf() {
                Ok([]) => return Err(OutputError::Device("the sound server went away".into())),
                Ok(_) => {}
                Err(error) if is_quiet(error.kind()) => {
                    if lock(source).skip().is_break() {
                        return Ok(());
                    }
                    continue;
                }
                Err(error) => return Err(failed(error)),
            }
            self.read_message()?;
            // Ignore messages of other kinds, or of newer servers.
            let channel = &self.message[4..8];
            if channel != u32::MAX.to_be_bytes() {
                continue;
            }
            let mut body = &self.message[HEAD_BYTES..];
            match Command::read_tag_prefixed(&mut body, self.version) {
                Ok((_, Command::Request(request))) if request.channel == stream.channel => {
                    wanted = wanted.saturating_add(request.length as usize);
                    wanted = wanted.min(4 * FRAMES_MAX * FRAME_BYTES);
                }
                Ok((_, Command::PlaybackStreamKilled(_))) => return Err(OutputError::NoDevice),
                _ => {}
            }
        }
    }
}

fn is_quiet(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

fn failed(error: std::io::Error) -> OutputError {
    OutputError::Device(error.to_string())
}

fn refused(error: ProtocolError) -> OutputError {
    match error {
        ProtocolError::ServerError(pulseaudio::protocol::PulseError::NoEntity) => {
            OutputError::NoDevice
        }
        error => OutputError::Device(error.to_string()),
    }
}

/// Sockets of sound servers: the one in the environment, or those of the user.
fn paths() -> Vec<PathBuf> {
    let named = |key: &str| std::env::var(key).ok().filter(|value| !value.is_empty());
    if let Some(servers) = named("PULSE_SERVER") {
        // Addresses separated by blanks, each perhaps with a host name in braces.
        let local = servers.split_whitespace().filter_map(|server| {
            let server = server.rsplit_once('}').map_or(server, |(_, address)| address);
            server.strip_prefix("unix:").or(Some(server).filter(|it| it.starts_with('/')))
        });
        return local.map(PathBuf::from).collect();
    }
    let runtime = named("PULSE_RUNTIME_PATH").map(|path| PathBuf::from(path).join("native"));
    let user = named("XDG_RUNTIME_DIR").map(|path| PathBuf::from(path).join("pulse/native"));
    let system = PathBuf::from("/run/pulse/native");
    runtime.into_iter().chain(user).chain([system]).collect()
}
