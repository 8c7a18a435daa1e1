//! Pictures of the window in files.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use macroquad::texture::{Image, get_screen_data};

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
        write_png(&self.file, &get_screen_data()).map_err(error)?;
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

fn write_png(file: &File, image: &Image) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    let mut encoder = png::Encoder::new(&mut out, image.width.into(), image.height.into());
    // Without alpha: the desktop behind the window is not part of the picture.
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let row = usize::from(image.width) * 4;
    // OpenGL's first row is the lowest.
    let pixels: Vec<u8> = image
        .bytes
        .chunks_exact(row.max(1))
        .rev()
        .flat_map(|row| row.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]))
        .collect();
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels)?;
    writer.finish()?;
    out.flush()
}
