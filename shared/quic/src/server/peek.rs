//! A quick look at a UDP packet: its kind, before any key is derived.
//!
//! ```text
//! short header    01......  own connection id (4 bytes); the rest is encrypted
//! long header     1.tt....  version (4 bytes), length and id of the destination, of the source;
//!                           tt is 0 for an Initial packet, whose token follows
//! ```

/// QUIC version 1, the only one that is served.
pub(super) const VERSION: u32 = 1;
/// Minimum size in bytes of a UDP packet that may begin a handshake (RFC 9000, 14.1).
const INITIAL_BYTES_MIN: usize = 1200;
/// Minimum length in bytes of a connection id that a client may choose, and the maximum in
/// version 1.
const ID_BYTES: (usize, usize) = (8, 20);

/// A packet's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peeked<'a> {
    /// A packet of a connection, with this side's id of it.
    Short { id: &'a [u8] },
    /// The first packet of a handshake.
    First { destination: &'a [u8], source: &'a [u8], token: &'a [u8] },
    /// A later packet of a handshake, with this side's id of it.
    Later { id: &'a [u8], is_initial: bool },
    /// A packet of another version, which is answered with version negotiation.
    OtherVersion,
    /// A packet of no use.
    Garbage,
}

/// Parses the start of a packet. This side's connection ids have `id_bytes` bytes.
pub(super) fn peek(bytes: &[u8], id_bytes: usize) -> Peeked<'_> {
    let Some((first, rest)) = bytes.split_first() else { return Peeked::Garbage };
    if first & 0x40 == 0 {
        return Peeked::Garbage;
    }
    if first & 0x80 == 0 {
        return rest.get(..id_bytes).map_or(Peeked::Garbage, |id| Peeked::Short { id });
    }
    long(*first, rest, bytes.len(), id_bytes).unwrap_or(Peeked::Garbage)
}

fn long(first: u8, rest: &[u8], len: usize, id_bytes: usize) -> Option<Peeked<'_>> {
    let (version, mut rest) = rest.split_first_chunk()?;
    let version = u32::from_be_bytes(*version);
    if version != VERSION {
        // Version 0 is an answer itself, which must not be answered.
        let may_answer = version != 0 && len >= INITIAL_BYTES_MIN;
        return may_answer.then_some(Peeked::OtherVersion);
    }
    let destination = id(&mut rest)?;
    let source = id(&mut rest)?;
    let is_ours = destination.len() == id_bytes;
    match first >> 4 & 3 {
        0 if is_ours => Some(Peeked::Later { id: destination, is_initial: true }),
        0 if destination.len() >= ID_BYTES.0 && len >= INITIAL_BYTES_MIN => {
            let token_bytes = varint(&mut rest)?;
            let token = rest.get(..token_bytes)?;
            Some(Peeked::First { destination, source, token })
        }
        2 if is_ours => Some(Peeked::Later { id: destination, is_initial: false }),
        // Early data and a server's Retry are of no use here.
        _ => None,
    }
}

fn id<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (len, after) = rest.split_first()?;
    let len = usize::from(*len);
    let (id, after) = after.split_at_checked(len).filter(|_| len <= ID_BYTES.1)?;
    *rest = after;
    Some(id)
}

/// Parses QUIC's variable-length integer as a length.
fn varint(rest: &mut &[u8]) -> Option<usize> {
    let first = *rest.first()?;
    let (bytes, after) = rest.split_at_checked(1 << (first >> 6))?;
    *rest = after;
    let value =
        bytes[1..].iter().fold(u64::from(first & 0x3f), |sum, byte| sum << 8 | u64::from(*byte));
    usize::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn initial(destination: &[u8], source: &[u8], token: &[u8], len: usize) -> Vec<u8> {
        let mut bytes = vec![0xc3, 0, 0, 0, 1];
        for part in [destination, source] {
            bytes.push(part.len() as u8);
            bytes.extend(part);
        }
        bytes.extend([0x40, token.len() as u8]);
        bytes.extend(token);
        bytes.resize(len, 0);
        bytes
    }

    #[test]
    fn kinds_are_told_by_their_first_bytes() {
        let (destination, source, token) = ([7; 8], [1, 2], [9; 70]);
        let first = initial(&destination, &source, &token, 1200);
        let told = Peeked::First { destination: &destination, source: &source, token: &token };
        assert_eq!(peek(&first, 4), told);
        assert_eq!(peek(&first[..1199], 4), Peeked::Garbage, "too short to begin with");
        let later = initial(&[5; 4], &source, &[], 100);
        assert_eq!(peek(&later, 4), Peeked::Later { id: &[5; 4], is_initial: true });
        let mut handshake = later;
        handshake[0] = 0xe3;
        assert_eq!(peek(&handshake, 4), Peeked::Later { id: &[5; 4], is_initial: false });
        for early_or_retry in [0xd3, 0xf3] {
            handshake[0] = early_or_retry;
            assert_eq!(peek(&handshake, 4), Peeked::Garbage);
        }
        assert_eq!(peek(&[0x40, 1, 2, 3, 4, 5], 4), Peeked::Short { id: &[1, 2, 3, 4] });
        let mut other = first;
        other[4] = 2;
        assert_eq!(peek(&other, 4), Peeked::OtherVersion);
        assert_eq!(peek(&other[..1199], 4), Peeked::Garbage, "the answer could be longer");
        other[4] = 0;
        assert_eq!(peek(&other, 4), Peeked::Garbage, "answers are not answered");
    }

    #[test]
    fn cut_packets_are_garbage_and_no_panic() {
        let whole = initial(&[7; 20], &[1; 20], &[9; 63], 1200);
        for len in 0..120 {
            let cut = peek(&whole[..len], 4);
            assert_eq!(cut, Peeked::Garbage, "{len}");
        }
        // A token that is longer than the packet, with each encoding of its length.
        for prefix in [0x3f_u8, 0x7f, 0xbf, 0xff] {
            let mut bytes = initial(&[7; 8], &[], &[], 1200);
            bytes.truncate(15);
            bytes.push(prefix);
            bytes.resize(1200, 0xff);
            let peeked = peek(&bytes, 4);
            let fits = prefix == 0x3f;
            assert_eq!(matches!(peeked, Peeked::First { .. }), fits, "{prefix:#x}");
        }
        for first in 0..=255 {
            assert!(!matches!(peek(&[first], 4), Peeked::First { .. }));
        }
    }
}
