//! Rendered sound as a WAV file, to listen to or to inspect.

use std::io::{self, Write};

use super::{SAMPLE_RATE, Stereo};

/// Bytes of a sample: 16 bits.
const SAMPLE_BYTES: u32 = 2;

/// Writes frames as 16-bit stereo.
pub fn write(mut to: impl Write, frames: &[Stereo]) -> io::Result<()> {
    write_header(&mut to, frames.len())?;
    write_frames(&mut to, frames)?;
    to.flush()
}

/// Writes the header of a file with this number of frames, which [`write_frames`] appends.
///
/// # Errors
///
/// Besides those of the writer, if the file would be larger than 4 GiB.
pub fn write_header(mut to: impl Write, frames: usize) -> io::Result<()> {
    let frame_bytes = 2 * SAMPLE_BYTES;
    let too_long = |_| io::Error::new(io::ErrorKind::InvalidInput, "too long for a WAV file");
    let bytes = u32::try_from(frames).ok().and_then(|frames| frames.checked_mul(frame_bytes));
    let bytes = bytes.and_then(|bytes| bytes.checked_add(36).map(|_| bytes));
    let bytes = bytes.ok_or(()).map_err(too_long)?;
    to.write_all(b"RIFF")?;
    to.write_all(&(36 + bytes).to_le_bytes())?;
    to.write_all(b"WAVEfmt ")?;
    to.write_all(&16_u32.to_le_bytes())?;
    to.write_all(&1_u16.to_le_bytes())?;
    to.write_all(&2_u16.to_le_bytes())?;
    to.write_all(&SAMPLE_RATE.to_le_bytes())?;
    to.write_all(&(SAMPLE_RATE * frame_bytes).to_le_bytes())?;
    to.write_all(&(frame_bytes as u16).to_le_bytes())?;
    to.write_all(&(8 * SAMPLE_BYTES as u16).to_le_bytes())?;
    to.write_all(b"data")?;
    to.write_all(&bytes.to_le_bytes())
}

/// Appends frames.
pub fn write_frames(mut to: impl Write, frames: &[Stereo]) -> io::Result<()> {
    for sample in frames.iter().flatten() {
        to.write_all(&((sample.clamp(-1.0, 1.0) * 32_767.0) as i16).to_le_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_has_its_header_and_its_samples() {
        let mut file = Vec::new();
        write(&mut file, &[[0.5, -1.0], [0.0, 2.0]]).expect("memory takes it");
        assert_eq!(file.len(), 44 + 8);
        assert_eq!(&file[..4], b"RIFF");
        assert_eq!(file[24..28], 48_000_u32.to_le_bytes());
        assert_eq!(file[44..46], 16_383_i16.to_le_bytes());
        assert_eq!(file[50..52], 32_767_i16.to_le_bytes());
    }
}
