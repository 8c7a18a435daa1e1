//! Pictures of the window in files.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use macroquad::texture::get_screen_data;

/// A file for a picture. It is opened in advance, so that a path that cannot be written is known
/// before anything else happens. Its content stays untouched until the picture is taken.
#[derive(Debug)]
pub struct Screenshot {
    path: PathBuf,
    file: File,
    /// Whether the file is new.
    fresh: bool,
    taken: bool,
}

/// The picture cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the screenshot to {}: {error}", path.display())]
pub struct ScreenshotError {
    path: PathBuf,
    error: io::Error,
}

impl Screenshot {
    /// Opens the file for writing.
    pub fn prepare(path: &Path) -> Result<Self, ScreenshotError> {
        let fresh = !path.exists();
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = file.map_err(|error| ScreenshotError { path: path.to_owned(), error })?;
        Ok(Self { path: path.to_owned(), file, fresh, taken: false })
    }

    /// Writes the frame as drawn so far.
    pub fn take(&mut self) -> Result<(), ScreenshotError> {
        let error = |error| ScreenshotError { path: self.path.clone(), error };
        self.file.set_len(0).map_err(error)?;
        let out = BufWriter::new(&self.file);
        Picture::of_screen().write_png(out, png::Compression::Balanced).map_err(error)?;
        self.taken = true;
        Ok(())
    }
}

impl Drop for Screenshot {
    fn drop(&mut self) {
        if self.fresh && !self.taken {
            // An empty file is useless; a failed removal changes nothing.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// A picture without alpha: the desktop behind the window is not part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Red, green and blue of each pixel, row by row from the top.
    pub rgb: Vec<u8>,
}

impl Picture {
    /// Returns the frame as drawn so far. Needs the window.
    pub fn of_screen() -> Self {
        let image = get_screen_data();
        let row = usize::from(image.width) * 4;
        // OpenGL's first row is the lowest.
        let rows = image.bytes.chunks_exact(row.max(1)).rev();
        let rgb = rows.flat_map(|row| row.chunks_exact(4).flat_map(|it| [it[0], it[1], it[2]]));
        Self { width: image.width.into(), height: image.height.into(), rgb: rgb.collect() }
    }

    /// Writes the picture as a PNG file.
    pub fn write_png(&self, mut out: impl Write, effort: png::Compression) -> io::Result<()> {
        let mut encoder = png::Encoder::new(&mut out, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(effort);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.rgb)?;
        writer.finish()?;
        out.flush()
    }
}
