//! An incremental reader of HTTP/3 frames on request and control streams.

use super::fault::Fault;

/// The maximum size of a HEADERS frame in bytes. Chrome's has 400.
const HEADERS_BYTES_MAX: u64 = 4 * 1024;
/// Maximum size of a DATA frame in bytes: the capsule that closes a session has up to 1 kB
/// (draft-ietf-webtrans-http3, 6).
const DATA_BYTES_MAX: u64 = 2 * 1024;
/// Maximum size of a SETTINGS frame in bytes. Chrome's has 50.
const SETTINGS_BYTES_MAX: u64 = 1024;
/// Maximum number of bytes on a stream, apart from forgiven ones. A request and a goodbye take a
/// tenth of it.
const STREAM_BYTES_MAX: u64 = 16 * 1024;

const DATA: u64 = 0;
const HEADERS: u64 = 1;
const CANCEL_PUSH: u64 = 3;
const SETTINGS: u64 = 4;
const PUSH_PROMISE: u64 = 5;
const GOAWAY: u64 = 7;
const MAX_PUSH_ID: u64 = 13;
/// Reserved types of HTTP/2 (RFC 9114, 7.2.8).
const OF_HTTP2: [u64; 4] = [2, 6, 8, 9];
/// Signal value at the start of a WebTransport stream. Anywhere else it is an invalid frame.
const STREAM: u64 = 0x41;

/// The kind of stream that carries the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A request stream.
    Request,
    /// A client's control stream before its SETTINGS.
    ControlStart,
    /// A client's control stream after its SETTINGS.
    Control,
}

/// A frame that the server acts on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A HEADERS frame, including its type and length.
    Headers(Vec<u8>),
    /// A HEADERS frame above the limit; the reader stops here.
    HeadersTooLong,
    /// Payload of a DATA frame: capsules.
    Data(Vec<u8>),
    /// Payload of a SETTINGS frame.
    Settings(Vec<u8>),
}

/// What to do with a frame.
enum Rule {
    Keep(u64),
    Skip,
}

impl Place {
    /// What to do with a frame of type `kind` here (RFC 9114, 7.2 and table 1).
    fn rule(self, kind: u64) -> Result<Rule, Fault> {
        match (self, kind) {
            (Self::Request, DATA) => Ok(Rule::Keep(DATA_BYTES_MAX)),
            (Self::Request, HEADERS) => Ok(Rule::Keep(HEADERS_BYTES_MAX)),
            (Self::ControlStart, SETTINGS) => Ok(Rule::Keep(SETTINGS_BYTES_MAX)),
            (Self::ControlStart, _) => Err(Fault::MissingSettings),
            (_, STREAM) => Err(Fault::Frame),
            // The server promises no pushes.
            (Self::Control, CANCEL_PUSH) => Err(Fault::Id),
            (Self::Control, GOAWAY | MAX_PUSH_ID) => Ok(Rule::Skip),
            (_, DATA | HEADERS | CANCEL_PUSH | SETTINGS | PUSH_PROMISE | GOAWAY | MAX_PUSH_ID) => {
                Err(Fault::FrameUnexpected)
            }
            (_, kind) if OF_HTTP2.contains(&kind) => Err(Fault::FrameUnexpected),
            // Unknown types must be ignored (RFC 9114, 9).
            _ => Ok(Rule::Skip),
        }
    }
}

/// Reads the frames of one stream. The limits on frames bound its memory.
#[derive(Debug)]
pub(crate) struct FrameReader {
    place: Place,
    /// Bytes of the incomplete frame.
    partial: Vec<u8>,
    /// Bytes left to skip of a frame that is ignored.
    skipped: u64,
    /// Bytes consumed so far.
    taken: u64,
    has_ended: bool,
}

impl FrameReader {
    /// Creates a reader for the start of a stream.
    pub(crate) fn new(place: Place) -> Self {
        Self { place, partial: Vec::new(), skipped: 0, taken: 0, has_ended: false }
    }

    /// Appends bytes for [`next`](Self::next).
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        if !self.has_ended {
            self.partial.extend_from_slice(bytes);
        }
    }

    /// Returns the next frame that the server acts on, or none until it is complete. After an error
    /// the stream is unusable.
    pub(crate) fn next(&mut self) -> Result<Option<Part>, Fault> {
        loop {
            if self.skipped > 0 {
                let here = (self.partial.len() as u64).min(self.skipped);
                self.consume(here as usize)?;
                self.skipped -= here;
                if self.skipped > 0 {
                    return Ok(None);
                }
            }
            let Some((kind, head)) = varint(&self.partial) else { return Ok(None) };
            let rule = self.place.rule(kind)?;
            let Some((length, more)) = varint(&self.partial[head..]) else { return Ok(None) };
            let head = head + more;
            match rule {
                Rule::Skip => {
                    self.consume(head)?;
                    self.skipped = length;
                }
                Rule::Keep(max) if length > max && kind == HEADERS => {
                    self.has_ended = true;
                    self.partial.clear();
                    return Ok(Some(Part::HeadersTooLong));
                }
                Rule::Keep(max) if length > max => return Err(Fault::ExcessiveLoad),
                Rule::Keep(_) => return self.keep(kind, head, length as usize),
            }
        }
    }

    fn keep(&mut self, kind: u64, head: usize, length: usize) -> Result<Option<Part>, Fault> {
        let end = head + length;
        if self.partial.len() < end {
            return Ok(None);
        }
        let frame = self.partial[..end].to_vec();
        self.consume(end)?;
        Ok(Some(match kind {
            HEADERS => Part::Headers(frame),
            SETTINGS => {
                self.place = Place::Control;
                Part::Settings(frame[head..].to_vec())
            }
            _ => Part::Data(frame[head..].to_vec()),
        }))
    }

    fn consume(&mut self, count: usize) -> Result<(), Fault> {
        self.partial.drain(..count);
        self.taken = self.taken.saturating_add(count as u64);
        if self.taken > STREAM_BYTES_MAX {
            return Err(Fault::ExcessiveLoad);
        }
        Ok(())
    }

    /// Subtracts `count` bytes from the stream's total: frames that a session needs for as long as
    /// it lasts do not count towards the limit.
    pub(crate) fn forgive(&mut self, count: usize) {
        self.taken = self.taken.saturating_sub(count as u64);
    }
}

/// Reads a variable-length integer (RFC 9000, 16). Returns it and its length in bytes, or none if
/// bytes are missing.
pub(crate) fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    let length = 1 << (first >> 6);
    let rest = bytes.get(1..length)?;
    let number = rest.iter().fold(u64::from(first & 0x3f), |sum, byte| sum << 8 | u64::from(*byte));
    Some((number, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_rfc() {
        // RFC 9000, A.1.
        for (bytes, number) in [
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c][..], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
            (&[0x40, 0x25], 37),
        ] {
            assert_eq!(varint(bytes), Some((number, bytes.len())));
            for short in 0..bytes.len() {
                assert_eq!(varint(&bytes[..short]), None);
            }
        }
    }

    /// Reads `bytes` in pieces of `size` bytes.
    fn parts(place: Place, bytes: &[u8], size: usize) -> Result<Vec<Part>, Fault> {
        let (mut reader, mut parts) = (FrameReader::new(place), Vec::new());
        for piece in bytes.chunks(size) {
            reader.feed(piece);
            while let Some(part) = reader.next()? {
                parts.push(part);
            }
        }
        Ok(parts)
    }

    #[test]
    fn frames_come_whole_however_they_are_cut() {
        // Grease, headers, an unknown frame, two of data, the first of them empty.
        let bytes = [
            &[0x21, 3, 9, 9, 9, 1, 2, 0xaa, 0xbb, 0x40, 0x7f, 1, 7, 0, 0, 0, 3][..],
            &[0x28, 0x43, 5],
        ]
        .concat();
        let expected = vec![
            Part::Headers(vec![1, 2, 0xaa, 0xbb]),
            Part::Data(vec![]),
            Part::Data(vec![0x28, 0x43, 5]),
        ];
        for size in 1..=bytes.len() {
            assert_eq!(parts(Place::Request, &bytes, size), Ok(expected.clone()), "{size}");
        }
        // A type and a length in more bytes than they need are valid.
        let long = [0xc0, 0, 0, 0, 0, 0, 0, 1, 0x80, 0, 0, 2, 0xaa, 0xbb];
        assert_eq!(parts(Place::Request, &long, 3), Ok(vec![Part::Headers(long.to_vec())]));
    }

    #[test]
    fn frames_out_of_place_have_their_codes() {
        use Fault::{ExcessiveLoad, Frame, FrameUnexpected, Id, MissingSettings};
        let settings = |rest: &[u8]| [&[4, 0][..], rest].concat();
        for (place, bytes, fault) in [
            (Place::Request, vec![0, 0x48, 1], ExcessiveLoad),
            (Place::Request, vec![4, 0], FrameUnexpected),
            (Place::Request, vec![7, 0], FrameUnexpected),
            (Place::Request, vec![0x40, 0x41, 0], Frame),
            (Place::ControlStart, vec![0, 0], MissingSettings),
            (Place::ControlStart, vec![0x21, 0], MissingSettings),
            (Place::ControlStart, vec![4, 0x48, 1], ExcessiveLoad),
            (Place::ControlStart, settings(&[4, 0]), FrameUnexpected),
            (Place::ControlStart, settings(&[0, 0]), FrameUnexpected),
            (Place::ControlStart, settings(&[1, 0]), FrameUnexpected),
            (Place::ControlStart, settings(&[2, 0]), FrameUnexpected),
            (Place::ControlStart, settings(&[3, 1, 0]), Id),
        ] {
            assert_eq!(parts(place, &bytes, 1), Err(fault), "{place:?}: {bytes:?}");
        }
        let good = settings(&[0x21, 1, 9, 7, 1, 0, 13, 1, 5]);
        assert_eq!(parts(Place::ControlStart, &good, 2), Ok(vec![Part::Settings(vec![])]));
        let long = [1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 0, 0];
        assert_eq!(parts(Place::Request, &long, 20), Ok(vec![Part::HeadersTooLong]));
        // An endless run of ignored frames.
        let flood = [0x21, 0x7f, 0xff].repeat(10_000);
        assert_eq!(parts(Place::Request, &flood, 2000), Err(ExcessiveLoad));
    }
}
