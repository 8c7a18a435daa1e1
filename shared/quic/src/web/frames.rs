//! Frames of HTTP/3 on the request's stream, from bytes as they come.

use super::Fault;

/// Bytes of a block of headers at most. Chrome's has 400.
const HEADERS_BYTES_MAX: u64 = 4 * 1024;
/// Bytes of a capsule's frame at most: a goodbye has 1 kB (draft-ietf-webtrans-http3, 6).
const DATA_BYTES_MAX: u64 = 2 * 1024;
/// Bytes on a request's stream at most. A request and a goodbye take a tenth.
const STREAM_BYTES_MAX: usize = 16 * 1024;

const DATA: u64 = 0;
const HEADERS: u64 = 1;
/// Frames that have no place on a request's stream, or none any more (RFC 9114, 7.2).
const MISPLACED: [u64; 8] = [2, 3, 4, 5, 6, 7, 8, 9];

/// A frame that matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The whole frame with the headers, its head included.
    Headers(Vec<u8>),
    /// Bytes of capsules.
    Data(Vec<u8>),
}

/// Reader of a request's stream.
#[derive(Debug, Default)]
pub(crate) struct FrameReader {
    /// Bytes of the frame that comes.
    partial: Vec<u8>,
    /// Bytes of an unknown frame that are yet to be passed over.
    skipped: u64,
    /// Bytes so far.
    taken: usize,
}

impl FrameReader {
    /// Takes in bytes. A fault is the last that comes of them.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<Vec<Part>, Fault> {
        self.taken = self.taken.saturating_add(bytes.len());
        if self.taken > STREAM_BYTES_MAX {
            return Err(Fault::ExcessiveLoad);
        }
        self.partial.extend_from_slice(bytes);
        let mut parts = Vec::new();
        while let Some(part) = self.next()? {
            parts.extend(part);
        }
        Ok(parts)
    }

    /// The next whole frame, or that one was passed over.
    fn next(&mut self) -> Result<Option<Option<Part>>, Fault> {
        if self.skipped > 0 {
            let here = (self.partial.len() as u64).min(self.skipped);
            self.partial.drain(..here as usize);
            self.skipped -= here;
            return Ok((here > 0).then_some(None));
        }
        let Some((kind, head)) = varint(&self.partial) else { return Ok(None) };
        let Some((length, more)) = varint(&self.partial[head..]) else { return Ok(None) };
        let head = head + more;
        match kind {
            DATA if length > DATA_BYTES_MAX => return Err(Fault::ExcessiveLoad),
            HEADERS if length > HEADERS_BYTES_MAX => return Err(Fault::ExcessiveLoad),
            DATA | HEADERS => {}
            kind if MISPLACED.contains(&kind) => return Err(Fault::FrameUnexpected),
            // Of a kind that nobody knows, which must be passed over (RFC 9114, 9).
            _ => {
                self.partial.drain(..head);
                self.skipped = length;
                return Ok(Some(None));
            }
        }
        let end = head + length as usize;
        if self.partial.len() < end {
            return Ok(None);
        }
        let frame: Vec<u8> = self.partial.drain(..end).collect();
        Ok(Some(Some(match kind {
            HEADERS => Part::Headers(frame),
            _ => Part::Data(frame[head..].to_vec()),
        })))
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

    #[test]
    fn frames_come_whole_however_they_are_cut() {
        // Grease, headers, an unknown frame, two of data, the first of them empty.
        let bytes = [
            &[0x21, 3, 9, 9, 9, 1, 2, 0xaa, 0xbb, 0x40, 0x7f, 1, 7, 0, 0, 0, 3][..],
            &[0x28, 0x43, 5],
        ]
        .concat();
        let expected = [
            Part::Headers(vec![1, 2, 0xaa, 0xbb]),
            Part::Data(vec![]),
            Part::Data(vec![0x28, 0x43, 5]),
        ];
        for size in 1..=bytes.len() {
            let mut reader = FrameReader::default();
            let parts = bytes.chunks(size).flat_map(|chunk| reader.take(chunk).expect("good"));
            assert_eq!(parts.collect::<Vec<_>>(), expected, "{size}");
        }
    }

    #[test]
    fn what_is_too_much_is_refused_before_it_comes() {
        for (bytes, fault) in [
            (&[1, 0x50, 1][..], Fault::ExcessiveLoad),
            (&[0, 0x48, 1], Fault::ExcessiveLoad),
            (&[1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], Fault::ExcessiveLoad),
            (&[4, 0], Fault::FrameUnexpected),
            (&[7, 0], Fault::FrameUnexpected),
        ] {
            assert_eq!(FrameReader::default().take(bytes), Err(fault), "{bytes:?}");
        }
        // Frames to pass over without end.
        let mut reader = FrameReader::default();
        let flood = [0x21, 0x7f, 0xff].repeat(1000);
        let ends = (0..100).find_map(|_| reader.take(&flood).err());
        assert_eq!(ends, Some(Fault::ExcessiveLoad));
        assert!(reader.partial.len() <= STREAM_BYTES_MAX);
    }
}
