//! The end of a session: a code for programs, a text for people, and what to do next.

use serde::{Deserialize, Serialize};

use super::error::WireError;
use super::query::WebIdentity;
use super::text::{clip, printable};
use crate::fingerprint::Fingerprint;
use crate::limits::{TEXT_BYTES_MAX, TICKET_BYTES_MAX};

macro_rules! codes {
    ($($(#[doc = $meaning:literal])+ $name:ident = $number:literal, $retry:expr;)+) => {
        /// Why a session ended. It also closes the QUIC connection. The numbers are listed in
        /// `WIRE.md` and are never reused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(from = "u16", into = "u16")]
        pub enum Code {
            $($(#[doc = $meaning])+ $name,)+
            /// A code of another version.
            Other(u16),
        }

        impl Code {
            /// All codes that this version knows.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Returns what it means, in a sentence.
            fn meaning(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($meaning),+).trim_start(),)+
                    Self::Other(_) => "The server ended the session.",
                }
            }

            /// Returns the default number of seconds until another attempt makes sense; `None` if
            /// it would fail again.
            pub fn retry_after(self) -> Option<u32> {
                match self {
                    $(Self::$name => $retry,)+
                    Self::Other(_) => None,
                }
            }
        }

        impl From<u16> for Code {
            fn from(number: u16) -> Self {
                match number {
                    $($number => Self::$name,)+
                    number => Self::Other(number),
                }
            }
        }

        impl From<Code> for u16 {
            fn from(code: Code) -> Self {
                match code {
                    $(Code::$name => $number,)+
                    Code::Other(number) => number,
                }
            }
        }
    };
}

codes! {
    /// The player left, or the question was answered.
    Left = 0, None;
    /// The connection was lost.
    Lost = 1, Some(0);
    /// The server is shutting down.
    Shutdown = 2, Some(1);
    /// The server accepts no new players and will stop soon.
    Draining = 3, Some(5);
    /// All seats are taken.
    Full = 4, Some(5);
    /// The two builds have different protocols.
    OtherWire = 5, None;
    /// The client does not have the server's game, or has different rules for it.
    OtherGame = 6, None;
    /// The peer broke the protocol.
    Protocol = 7, None;
    /// The peer was silent for too long.
    Silent = 8, Some(0);
    /// The peer did not read its messages.
    NotReading = 9, Some(0);
    /// The host kicked the player.
    Kicked = 10, None;
    /// The player came back over another connection.
    Replaced = 11, None;
    /// The proof of the client's identity is wrong.
    BadProof = 12, None;
    /// The resume token belongs to another player: join without it.
    BadToken = 13, Some(0);
    /// The client refuses the server.
    Refused = 14, None;
    /// The room's rules panicked, and the room could not continue.
    Failed = 15, Some(5);
    /// There is no room with that code, and the server does not create one.
    NoRoom = 16, None;
    /// The host has banned the player, the address or its network.
    Banned = 17, None;
    /// The server needs a password, and the client sent none or the wrong one.
    Password = 18, None;
    /// The server accepts only players on its list, and the player is not on it.
    NotListed = 19, None;
    /// The player was idle for longer than the host allows.
    Idle = 20, None;
    /// The player's name could mislead others; another name is accepted.
    BadName = 21, None;
    /// The browser's page is on another host, and the server does not accept its players.
    ForeignPage = 22, None;
    /// The client is older than the oldest version that the host accepts.
    OldClient = 23, None;
}

/// The end of a session, as sent to the client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disconnect {
    /// The reason, for programs to act on.
    pub code: Code,
    /// The reason, for people to read; at most [`TEXT_BYTES_MAX`] bytes on the wire.
    pub text: String,
    /// Seconds until another attempt makes sense; `None` if it never does.
    pub retry_after: Option<u32>,
    /// Another server to join instead, as `host:port`; at most [`TEXT_BYTES_MAX`] bytes.
    pub redirect: Option<String>,
    /// Fingerprint of that server's certificate, which the client must check.
    pub fingerprint: Option<Fingerprint>,
    /// Ticket for that server, which the client passes on unread; at most [`TICKET_BYTES_MAX`]
    /// bytes.
    pub ticket: Option<Vec<u8>>,
    /// How browsers recognize that server; empty if that is unknown.
    pub web: WebIdentity,
}

impl Disconnect {
    /// Creates a disconnect with the retry delay of its code.
    pub fn new(code: Code, text: impl Into<String>) -> Self {
        Self {
            code,
            text: text.into(),
            retry_after: code.retry_after(),
            redirect: None,
            fingerprint: None,
            ticket: None,
            web: WebIdentity::default(),
        }
    }

    /// Clips the texts to fit the wire, and removes a ticket and digests that do not.
    #[must_use]
    pub fn clipped(mut self) -> Self {
        for text in std::iter::once(&mut self.text).chain(&mut self.redirect) {
            text.truncate(clip(text, TEXT_BYTES_MAX).len());
        }
        self.ticket.take_if(|ticket| ticket.len() > TICKET_BYTES_MAX);
        if !self.web.is_valid() {
            self.web = WebIdentity::default();
        }
        self
    }

    /// Checks what a peer sent, and makes its texts printable.
    pub(super) fn check(&mut self) -> Result<(), WireError> {
        let redirect = self.redirect.iter_mut();
        for (text, what) in
            [(&mut self.text, "text")].into_iter().chain(redirect.map(|it| (it, "redirect")))
        {
            if text.len() > TEXT_BYTES_MAX {
                return Err(WireError::Range(what));
            }
            *text = printable(text);
        }
        if self.ticket.as_ref().is_some_and(|ticket| ticket.len() > TICKET_BYTES_MAX) {
            return Err(WireError::Range("ticket"));
        }
        if !self.web.is_valid() {
            return Err(WireError::Range("web"));
        }
        Ok(())
    }
}

impl std::error::Error for Disconnect {}

impl std::fmt::Display for Disconnect {
    /// Returns the text, or the meaning of the code if the peer gave no text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.text.trim().is_empty() {
            return f.write_str(&self.text);
        }
        let meaning = self.code.meaning().trim_end_matches('.');
        let number = u16::from(self.code);
        write!(f, "{meaning} (code {number}, no reason given)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_their_numbers_there_and_back() {
        for number in 0..40 {
            let code = Code::from(number);
            assert_eq!(u16::from(code), number);
            let known = Code::ALL.contains(&code);
            assert_eq!(known, !matches!(code, Code::Other(_)), "{code:?}");
        }
        assert_eq!(Code::ALL.len(), 24);
    }

    #[test]
    fn codes_are_those_of_the_document() {
        let document = include_str!("../../WIRE.md");
        let (_, table) = document.split_once("| code | meaning |").expect("the table is there");
        let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
        let rows: Vec<Vec<_>> =
            rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect();
        assert_eq!(rows.len(), Code::ALL.len());
        for (row, code) in rows.iter().zip(Code::ALL) {
            assert_eq!(row[0], u16::from(*code).to_string(), "{row:?}");
            let meaning = code.meaning().trim_end_matches('.').to_lowercase();
            assert_eq!(row[1].to_lowercase(), meaning, "the document's sentence is the code's");
            let retry = match code.retry_after() {
                None => "no".to_owned(),
                Some(0) => "at once".to_owned(),
                Some(secs) => format!("after {secs} s"),
            };
            assert_eq!(row[2], retry, "{row:?}");
        }
    }

    #[test]
    fn an_end_without_a_text_tells_its_code() {
        let shown = |code, text: &str| Disconnect::new(code, text).to_string();
        assert_eq!(shown(Code::Full, "come back later"), "come back later");
        assert_eq!(shown(Code::Full, " "), "All seats are taken (code 4, no reason given)");
        let unknown = "The server ended the session (code 999, no reason given)";
        assert_eq!(shown(Code::Other(999), ""), unknown);
    }

    #[test]
    fn long_text_is_clipped() {
        let long = Disconnect::new(Code::Full, "é".repeat(300));
        assert_eq!((long.text.len(), long.clipped().text.len()), (600, TEXT_BYTES_MAX));
    }
}
