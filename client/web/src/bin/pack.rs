//! Compresses the files of a page and adds up the bytes that a browser downloads before the first
//! frame: `pack FOLDER BYTES_MAX`. `client/web/build` runs it.

#![expect(clippy::print_stdout, reason = "its output is for people")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

/// Extensions of the files that a browser requests before the first frame.
const FIRST: [&str; 4] = ["html", "css", "js", "wasm"];
/// Extensions of other files worth compressing.
const OTHERS: [&str; 3] = ["svg", "json", "webmanifest"];

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [folder, bytes_max] = &arguments[..] else {
        eprintln!("usage: pack FOLDER BYTES_MAX");
        return ExitCode::from(2);
    };
    let Ok(bytes_max) = bytes_max.parse() else {
        eprintln!("{bytes_max} is not a number of bytes");
        return ExitCode::from(2);
    };
    match pack(Path::new(folder)) {
        Ok(total) => {
            println!("{total} bytes to download before the first frame, at most {bytes_max}");
            if total <= bytes_max {
                return ExitCode::SUCCESS;
            }
            eprintln!("the page is too large by {} bytes", total - bytes_max);
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("cannot compress the files in {folder}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Compresses each file with each coding. Returns the total size of those that are downloaded
/// before the first frame.
fn pack(folder: &Path) -> io::Result<u64> {
    let paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<io::Result<_>>()?;
    paths.sort();
    let mut total = 0;
    for path in paths {
        let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
        let is_first = FIRST.contains(&end);
        if !is_first && !OTHERS.contains(&end) {
            continue;
        }
        let content = fs::read(&path)?;
        let small = [("br", brotli_of(&content)?), ("gz", gzip_of(&content)?)];
        let best = small.iter().map(|(_, bytes)| bytes.len()).min().unwrap_or(content.len());
        for (end, bytes) in small {
            let mut name = path.clone().into_os_string();
            name.push(format!(".{end}"));
            fs::write(name, bytes)?;
        }
        let name = path.file_name().unwrap_or_default().display();
        println!("{best:9} of {:9} bytes  {name}", content.len());
        if is_first {
            total += best as u64;
        }
    }
    Ok(total)
}

fn brotli_of(content: &[u8]) -> io::Result<Vec<u8>> {
    // The best quality, and the largest window that HTTP allows: 16 MiB.
    let params = brotli::enc::BrotliEncoderParams { quality: 11, lgwin: 24, ..Default::default() };
    let mut bytes = Vec::new();
    brotli::BrotliCompress(&mut &*content, &mut bytes, &params)?;
    Ok(bytes)
}

fn gzip_of(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = flate2::read::GzEncoder::new(content, flate2::Compression::best());
    let mut bytes = Vec::new();
    io::copy(&mut encoder, &mut bytes)?;
    Ok(bytes)
}
