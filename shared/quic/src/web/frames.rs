//! Frames of HTTP/3 on a request's stream and on a control stream, from bytes as they come.

use super::Fault;

/// Bytes of a block of headers at most. Chrome's has 400.
const HEADERS_BYTES_MAX: u64 = 4 * 1024;
/// Bytes of a capsule's frame at most: a goodbye has 1 kB (draft-ietf-webtrans-http3, 6).
const DATA_BYTES_MAX: u64 = 2 * 1024;
/// Bytes of settings at most. Chrome's have 50.
const SETTINGS_BYTES_MAX: u64 = 1024;
/// Bytes on a stream at most, unless they are forgiven. A request and a goodbye take a tenth.
const STREAM_BYTES_MAX: u64 = 16 * 1024;

const DATA: u64 = 0;
const HEADERS: u64 = 1;
const CANCEL_PUSH: u64 = 3;
const SETTINGS: u64 = 4;
const PUSH_PROMISE: u64 = 5;
const GOAWAY: u64 = 7;
const MAX_PUSH_ID: u64 = 13;
/// Kinds that HTTP/2 had (RFC 9114, 7.2.8).
const OF_HTTP2: [u64; 4] = [2, 6, 8, 9];
/// First bytes of a WebTransport stream, which are no frame anywhere else.
const STREAM: u64 = 0x41;

/// A stream that frames come on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A request's, either way.
    Request,
    /// A client's control stream, before its settings.
    ControlStart,
    /// A client's control stream, behind its settings.
    Control,
}

/// A frame that matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The whole frame with the headers, its head included.
    Headers(Vec<u8>),
    /// Headers that are too long to be read. Nothing more comes.
    HeadersTooLong,
    /// Bytes of capsules.
    Data(Vec<u8>),
    /// Settings, without the frame's head.
    Settings(Vec<u8>),
}

/// Treatment of a frame.
enum Rule {
    Keep(u64),
    Skip,
}

impl Place {
    /// Treatment of a frame of that kind here (RFC 9114, 7.2 and table 1).
    fn rule(self, kind: u64) -> Result<Rule, Fault> {
        match (self, kind) {
            (Self::Request, DATA) => Ok(Rule::Keep(DATA_BYTES_MAX)),
            (Self::Request, HEADERS) => Ok(Rule::Keep(HEADERS_BYTES_MAX)),
            (Self::ControlStart, SETTINGS) => Ok(Rule::Keep(SETTINGS_BYTES_MAX)),
            (Self::ControlStart, _) => Err(Fault::MissingSettings),
            (_, STREAM) => Err(Fault::Frame),
            // No push was ever promised.
            (Self::Control, CANCEL_PUSH) => Err(Fault::Id),
            (Self::Control, GOAWAY | MAX_PUSH_ID) => Ok(Rule::Skip),
            (_, DATA | HEADERS | CANCEL_PUSH | SETTINGS | PUSH_PROMISE | GOAWAY | MAX_PUSH_ID) => {
                Err(Fault::FrameUnexpected)
            }
            (_, kind) if OF_HTTP2.contains(&kind) => Err(Fault::FrameUnexpected),
            // Of a kind that nobody knows, which must be passed over (RFC 9114, 9).
            _ => Ok(Rule::Skip),
        }
    }
}

/// Reader of a stream of frames. Memory is bounded by the longest frame that is kept.
#[derive(Debug)]
pub(crate) struct FrameReader {
    place: Place,
    /// Bytes of the frame that comes.
    partial: Vec<u8>,
    /// Bytes of an unknown frame that are yet to be passed over.
    skipped: u64,
    /// Bytes of frames so far.
    taken: u64,
    has_ended: bool,
}

impl FrameReader {
    /// Creates a reader of a stream that begins.
    pub(crate) fn new(place: Place) -> Self {
        Self { place, partial: Vec::new(), skipped: 0, taken: 0, has_ended: false }
    }

    /// Takes in bytes, for [`next`](Self::next).
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        if !self.has_ended {
            self.partial.extend_from_slice(bytes);
        }
    }

    /// The next frame that matters, if it is all there. A fault is the last that comes.
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

    /// Forgives bytes that a session of any length needs: they do not count towards the stream's
    /// limit.
    pub(crate) fn forgive(&mut self, count: usize) {
        self.taken = self.taken.saturating_sub(count as u64);
    }
}

/// A number of one to eight bytes (RFC 9000, 16), and its length, if it is all there.
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

    /// The parts of a stream that comes in pieces of that size.
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
        // These frames again, with longer numbers than they need.
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
        // Frames to pass over without end.
        let flood = [0x21, 0x7f, 0xff].repeat(10_000);
        assert_eq!(parts(Place::Request, &flood, 2000), Err(ExcessiveLoad));
    }
}
