//! A clip as an animated PNG, which browsers and chats play. Pixels that do not change are left
//! transparent, so that they cost next to nothing.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use phaselock_sound::Stereo;
use phaselock_ui::screenshot::Picture;
use phaselock_ui::words::fill;

use super::target::Target;
use crate::replay::FilmFormat;

/// Clips are halved until they are at most this wide, in pixels.
const WIDTH_MAX: u32 = 960;

/// Returns where a clip is written until it is complete.
pub(super) fn part_of(path: &Path) -> PathBuf {
    path.with_extension("png.part")
}

/// A clip that is written beside its final place.
pub(super) struct ClipFile {
    path: PathBuf,
    part: PathBuf,
    format: FilmFormat,
    file: Option<File>,
    writer: Option<png::Writer<BufWriter<File>>>,
    /// The picture before.
    before: Option<Picture>,
}

impl ClipFile {
    pub(super) fn create(path: &Path, format: FilmFormat) -> io::Result<Self> {
        if path.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let part = part_of(path);
        let file = File::create_new(&part).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => io::Error::other(fill(
                "{file} is in the way; delete it if nothing else is exporting",
                &[("file", &part.display().to_string())],
            )),
            _ => error,
        });
        let file = Some(file?);
        Ok(Self { path: path.to_owned(), part, format, file, writer: None, before: None })
    }

    /// Writes the header for pictures of this size.
    fn begin(&mut self, picture: &Picture) -> io::Result<png::Writer<BufWriter<File>>> {
        let file = self.file.take().ok_or_else(|| io::Error::other("the clip has ended"))?;
        let mut encoder = png::Encoder::new(BufWriter::new(file), picture.width, picture.height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        // Zero plays are endless ones.
        encoder.set_animated(self.format.frames, 0)?;
        encoder.set_frame_delay(1, self.format.fps as u16)?;
        encoder.set_blend_op(png::BlendOp::Over)?;
        Ok(encoder.write_header()?)
    }
}

impl Target for ClipFile {
    fn add(&mut self, picture: Picture, _sound: &[Stereo]) -> io::Result<()> {
        let picture = shrunk(picture);
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.begin(&picture)?,
        };
        let changed = Changed::between(self.before.as_ref(), &picture);
        writer.set_frame_position(0, 0)?;
        writer.set_frame_dimension(changed.width, changed.height)?;
        writer.set_frame_position(changed.left, changed.top)?;
        writer.write_image_data(&changed.rgba(self.before.as_ref(), &picture))?;
        self.writer = Some(writer);
        self.before = Some(picture);
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        if let Some(writer) = self.writer.take() {
            writer.finish()?;
        }
        fs::rename(&self.part, &self.path)
    }
}

impl Drop for ClipFile {
    fn drop(&mut self) {
        self.writer = None;
        // After the end it has its final name.
        let _ = fs::remove_file(&self.part);
    }
}

/// The rectangle of pixels that differ from the picture before.
struct Changed {
    left: u32,
    top: u32,
    width: u32,
    height: u32,
}

impl Changed {
    fn between(before: Option<&Picture>, now: &Picture) -> Self {
        let all = Self { left: 0, top: 0, width: now.width, height: now.height };
        let Some(before) = before else { return all };
        let pixels = before.rgb.chunks_exact(3).zip(now.rgb.chunks_exact(3));
        let differ = pixels.enumerate().filter(|(_, (before, now))| before != now);
        let places = differ.map(|(at, _)| (at as u32 % now.width, at as u32 / now.width));
        let bounds = places.fold(None, |bounds: Option<[u32; 4]>, (x, y)| {
            let [left, top, right, bottom] = bounds.unwrap_or([x, y, x, y]);
            Some([left.min(x), top.min(y), right.max(x), bottom.max(y)])
        });
        // A frame has at least one pixel.
        let [left, top, right, bottom] = bounds.unwrap_or_default();
        Self { left, top, width: right - left + 1, height: bottom - top + 1 }
    }

    /// Returns the pixels of the rectangle: transparent where nothing has changed.
    fn rgba(&self, before: Option<&Picture>, now: &Picture) -> Vec<u8> {
        let rows = self.top..self.top + self.height;
        let places = rows.flat_map(|y| (self.left..self.left + self.width).map(move |x| (x, y)));
        let pixel = |picture: &Picture, (x, y): (u32, u32)| {
            let at = (y * picture.width + x) as usize * 3;
            [picture.rgb[at], picture.rgb[at + 1], picture.rgb[at + 2]]
        };
        let shown = |place| {
            let [red, green, blue] = pixel(now, place);
            match before.is_some_and(|before| pixel(before, place) == [red, green, blue]) {
                true => [0; 4],
                false => [red, green, blue, 255],
            }
        };
        places.flat_map(shown).collect()
    }
}

/// Halves a picture until it is narrow enough.
fn shrunk(mut picture: Picture) -> Picture {
    while picture.width > WIDTH_MAX && picture.height > 1 {
        picture = halved(&picture);
    }
    picture
}

/// Returns a picture of half the size: each pixel is the mean of four.
fn halved(picture: &Picture) -> Picture {
    let (width, height) = (picture.width / 2, picture.height / 2);
    let row = picture.width as usize * 3;
    let places = (0..height as usize).flat_map(|y| (0..width as usize).map(move |x| (x, y)));
    let mean = |(x, y): (usize, usize)| {
        let at = 2 * y * row + 6 * x;
        [0, 1, 2].map(|part| {
            let four = [at, at + 3, at + row, at + row + 3];
            let sum: u16 = four.iter().map(|at| u16::from(picture.rgb[at + part])).sum();
            (sum / 4) as u8
        })
    };
    Picture { width, height, rgb: places.flat_map(mean).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_pictures_are_halved_into_means() {
        let pixel = |at: usize| if at.is_multiple_of(2) { [0, 100, 8] } else { [200, 100, 10] };
        let rgb = (0..1920 * 6).flat_map(pixel).collect();
        let small = shrunk(Picture { width: 1920, height: 6, rgb });
        assert_eq!((small.width, small.height), (960, 3));
        assert!(small.rgb.chunks_exact(3).all(|it| it == [100, 100, 9]));
        assert_eq!(small.rgb.len(), 960 * 3 * 3);
    }
}
