//! Field sections of HTTP/3 (RFC 9204) without a dynamic table, which our settings do not allow.

use httlib_huffman::DecoderSpeed;

/// The maximum fields in a section. Chrome's request has 9.
const FIELDS_MAX: usize = 64;
/// Maximum size of a section in bytes, as RFC 9114, 4.2.2 counts them: names, values and 32 for
/// each field.
pub(super) const SECTION_BYTES_MAX: usize = 4 * 1024;
const FIELD_OVERHEAD: usize = 32;
/// Entries of the static table (RFC 9204, appendix A).
const STATIC_ENTRIES: usize = 99;
/// Indices of `:status` and `origin` in that table.
const STATUS: usize = 24;
const ORIGIN: usize = 90;

/// A field line: name and value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: Vec<u8>,
    pub(super) value: Vec<u8>,
}

/// Reasons for refusing a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SectionError {
    /// The bytes are invalid, or refer to a dynamic table.
    Unreadable,
    /// The section is longer than the settings allow.
    TooLong,
}

/// Returns the fields of a section, in their order.
pub(super) fn fields(section: &[u8]) -> Result<Vec<Field>, SectionError> {
    let mut bytes = Bytes(section);
    let inserts = bytes.integer(8)?;
    let _base = bytes.integer(7)?;
    if inserts != 0 {
        return Err(SectionError::Unreadable);
    }
    let (mut fields, mut size) = (Vec::new(), 0);
    while let Some(first) = bytes.0.first() {
        let field = match first >> 4 {
            // An entry of the static table.
            0b1100.. => entry(bytes.integer(6)?)?,
            // A name from the static table, and a value.
            0b0101 | 0b0111 => {
                let Field { name, .. } = entry(bytes.integer(4)?)?;
                Field { name, value: bytes.string(7)? }
            }
            0b0010 | 0b0011 => Field { name: bytes.string(3)?, value: bytes.string(7)? },
            // All others refer to a dynamic table.
            _ => return Err(SectionError::Unreadable),
        };
        size += field.name.len() + field.value.len() + FIELD_OVERHEAD;
        fields.push(field);
        if size > SECTION_BYTES_MAX || fields.len() > FIELDS_MAX {
            return Err(SectionError::TooLong);
        }
    }
    Ok(fields)
}

/// Returns an entry of the static table. Names that do not matter in a request for a session are
/// "other".
fn entry(index: usize) -> Result<Field, SectionError> {
    let (name, value) = match index {
        0 => (":authority", ""),
        1 => (":path", "/"),
        15 => (":method", "CONNECT"),
        16 => (":method", "DELETE"),
        17 => (":method", "GET"),
        18 => (":method", "HEAD"),
        19 => (":method", "OPTIONS"),
        20 => (":method", "POST"),
        21 => (":method", "PUT"),
        22 => (":scheme", "http"),
        23 => (":scheme", "https"),
        STATUS..=28 | 63..=71 => (":status", ""),
        ORIGIN => ("origin", ""),
        _ if index < STATIC_ENTRIES => ("other", ""),
        _ => return Err(SectionError::Unreadable),
    };
    Ok(Field { name: name.into(), value: value.into() })
}

/// The remaining bytes.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], SectionError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(SectionError::Unreadable)?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<usize, SectionError> {
        Ok(usize::from(self.take(1)?[0]))
    }

    /// Reads an integer with a prefix of this many bits (RFC 7541, section 5.1).
    fn integer(&mut self, bits: u32) -> Result<usize, SectionError> {
        let mask = (1 << bits) - 1;
        let mut value = self.byte()? & mask;
        if value < mask {
            return Ok(value);
        }
        // No length or index here needs more than three further bytes.
        for shift in [0, 7, 14] {
            let byte = self.byte()?;
            value += (byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(SectionError::Unreadable)
    }

    /// Reads a string whose first byte has this many bits of its length, after the bit for the
    /// Huffman code.
    fn string(&mut self, bits: u32) -> Result<Vec<u8>, SectionError> {
        let first = *self.0.first().ok_or(SectionError::Unreadable)?;
        let count = self.integer(bits)?;
        let bytes = self.take(count)?;
        if first >> bits & 1 == 0 {
            return Ok(bytes.to_vec());
        }
        let mut text = Vec::new();
        httlib_huffman::decode(bytes, &mut text, DecoderSpeed::FourBits)
            .map_err(|_| SectionError::Unreadable)?;
        Ok(text)
    }
}

/// Returns the frame with the headers of an answer: its status, and further fields.
pub(crate) fn answer(status: u16, fields: &[(&str, &str)]) -> Vec<u8> {
    // No required inserts, no base.
    let mut section = vec![0, 0];
    put_integer(&mut section, 0b0101_0000, 4, STATUS);
    put_string(&mut section, 0, 7, &status.to_string());
    for (name, value) in fields {
        put_string(&mut section, 0b0010_0000, 3, name);
        put_string(&mut section, 0, 7, value);
    }
    let mut frame = Vec::new();
    web_transport_proto::Frame::HEADERS.encode(&mut frame);
    web_transport_proto::VarInt::from_u32(section.len() as u32).encode(&mut frame);
    frame.extend(section);
    frame
}

fn put_integer(bytes: &mut Vec<u8>, flags: u8, bits: u32, value: usize) {
    let mask = (1 << bits) - 1;
    bytes.push(flags | value.min(mask) as u8);
    let Some(mut rest) = value.checked_sub(mask) else { return };
    while rest >= 0x80 {
        bytes.push(0x80 | (rest & 0x7f) as u8);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

fn put_string(bytes: &mut Vec<u8>, flags: u8, bits: u32, text: &str) {
    put_integer(bytes, flags, bits, text.len());
    bytes.extend(text.bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs_of(section: &[u8]) -> Result<Vec<(String, String)>, SectionError> {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        let fields = fields(section)?.into_iter();
        Ok(fields.map(|field| (text(field.name), text(field.value))).collect())
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    }

    #[test]
    fn sections_are_those_of_the_rfc() {
        // RFC 9204, B.1, and RFC 7541, C.4.1 in a literal.
        let section = [&[0, 0, 0x51, 0x0b][..], b"/index.html"].concat();
        assert_eq!(pairs_of(&section), Ok(pairs(&[(":path", "/index.html")])));
        let huffman = [0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff];
        let section = [&[0, 0, 0x50, 0x8c][..], &huffman, &[0xcf, 0xd7]].concat();
        let expected = [(":authority", "www.example.com"), (":method", "CONNECT")];
        assert_eq!(
            pairs_of(&section),
            Ok(pairs(&[expected[0], expected[1], (":scheme", "https")]))
        );
    }

    #[test]
    fn answers_can_be_read_again() {
        let long = "x".repeat(300);
        let frame = answer(404, &[("allow", "CONNECT"), ("a-rather-long-name", &long)]);
        let status = [(":status", "404"), ("allow", "CONNECT"), ("a-rather-long-name", &long)];
        // A frame of this length has a header of three bytes.
        assert_eq!(pairs_of(&frame[3..]), Ok(pairs(&status)));
        let decoded = web_transport_proto::ConnectResponse::decode(&mut &*answer(200, &[]));
        assert_eq!(decoded.expect("an answer").status, 200);
    }

    #[test]
    fn what_makes_no_sense_is_refused_and_what_is_too_long_too() {
        for section in [
            &[][..],
            &[0],
            // A dynamic table, in each form.
            &[1, 0, 0xd1],
            &[0, 0, 0x80],
            &[0, 0, 0x40, 0],
            &[0, 0, 0x10],
            &[0, 0, 0x00, 0],
            // Beyond the static table, and unterminated lengths.
            &[0, 0, 0xff, 0x24],
            &[0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
            &[0, 0, 0x51, 5, b'/'],
            // An invalid Huffman code.
            &[0, 0, 0x51, 0x84, 0xff, 0xff, 0xff, 0xff],
        ] {
            assert_eq!(pairs_of(section), Err(SectionError::Unreadable), "{section:02x?}");
        }
        let many = [&[0, 0][..], &[0xd7].repeat(FIELDS_MAX + 1)].concat();
        assert_eq!(pairs_of(&many), Err(SectionError::TooLong));
        let long = [&[0, 0, 0x51, 0x7f, 0x81, 0x1f][..], &[b'/'; 4096]].concat();
        assert_eq!(pairs_of(&long), Err(SectionError::TooLong));
    }
}
