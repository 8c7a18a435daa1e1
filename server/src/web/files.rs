//! The page's files, in memory, with the compressed copies made when the page was built.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use ring::digest::{SHA256, digest};

use crate::token::hex;

/// Maximum files of a page. Arbitrary.
const FILES_MAX: usize = 64;
/// Maximum bytes of a file. Arbitrary: three times today's largest, uncompressed.
const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Name of the page itself.
pub(super) const INDEX: &str = "index.html";
/// Hexadecimal digits of a content digest that a file's name may contain, so that it can be cached
/// forever: 64 bits, enough to tell all files of a page apart.
const DIGITS: usize = 16;

/// Content types of files, by extension.
const KINDS: [(&str, &str); 8] = [
    ("html", "text/html; charset=utf-8"),
    ("css", "text/css; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("wasm", "application/wasm"),
    ("json", "application/json"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("webmanifest", "application/manifest+json"),
];
/// Extensions of compressed copies, and their codings in HTTP, the smallest first.
pub(super) const CODINGS: [(&str, &str); 2] = [("br", "br"), ("gz", "gzip")];

/// Extension of a compressed copy, which may replace its file.
const PACKED: &str = ".gz";

/// Cache rule for files that are named by their content: keep for a year.
const LASTING: &str = "public, max-age=31536000, immutable";
/// Cache rule for all others: revalidate each time.
const ASKED: &str = "no-cache";

/// A file of the page.
#[derive(Debug)]
pub(super) struct PageFile {
    pub(super) kind: &'static str,
    pub(super) content: Bytes,
    /// Copies in the order of [`CODINGS`].
    pub(super) compressed: [Option<Bytes>; CODINGS.len()],
    /// ETag from the digest of the content; weak, since compressed copies have the same one (RFC
    /// 9110, 8.8.1).
    pub(super) tag: String,
    /// Cache rule.
    pub(super) caching: &'static str,
}

impl PageFile {
    /// Creates a file without compressed copies.
    pub(super) fn new(kind: &'static str, content: Bytes, caching: &'static str) -> Self {
        let tag = format!("W/\"{}\"", digits_of(&content));
        Self { kind, content, compressed: Default::default(), tag, caching }
    }
}

/// Returns the first digits of a content's digest.
fn digits_of(content: &[u8]) -> String {
    hex(&digest(&SHA256, content).as_ref()[..DIGITS / 2])
}

/// The files by name.
#[derive(Debug)]
pub(super) struct Files(BTreeMap<String, PageFile>);

impl Files {
    /// Reads the files in the first of these folders that has a page.
    pub(super) fn load(folders: &[PathBuf]) -> Result<Self> {
        let Some(folder) = folders.iter().find(|folder| folder.is_dir()) else {
            let folders: Vec<_> = folders.iter().map(|it| it.display().to_string()).collect();
            bail!(
                "the page's files are not in {}; build them with client/web/build, or name their \
                 folder with --web-files",
                folders.join(" or ")
            );
        };
        let files = Self::read(folder)
            .with_context(|| format!("cannot read the page's files in {}", folder.display()))?;
        ensure!(
            files.get(INDEX).is_some(),
            "there is no {INDEX} in {}; build the page again with client/web/build",
            folder.display()
        );
        Ok(files)
    }

    fn read(folder: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(folder)? {
            let name = entry?.file_name();
            // A compressed copy belongs to the file that it is named after.
            let name = name.to_str().map(|it| it.strip_suffix(PACKED).unwrap_or(it));
            let Some((name, kind)) = name.and_then(|it| Some((it, kind_of(it)?))) else {
                continue;
            };
            if files.contains_key(name) {
                continue;
            }
            ensure!(files.len() < FILES_MAX, "there are more than {FILES_MAX} files");
            let path = folder.join(name);
            let content = if path.exists() {
                content_of(&path)?
            } else {
                unpacked(&folder.join(format!("{name}{PACKED}")))?
            };
            let mut file = PageFile::new(kind, content, ASKED);
            for (copy, (end, _)) in file.compressed.iter_mut().zip(CODINGS) {
                let path = folder.join(format!("{name}.{end}"));
                if path.exists() {
                    *copy = Some(content_of(&path)?);
                }
            }
            // Other content would have another name.
            if name.contains(&digits_of(&file.content)) {
                file.caching = LASTING;
            }
            files.insert(name.to_owned(), file);
        }
        Ok(Self(files))
    }

    /// Returns the file of that name.
    pub(super) fn get(&self, name: &str) -> Option<&PageFile> {
        self.0.get(name)
    }
}

fn kind_of(name: &str) -> Option<&'static str> {
    let end = name.rsplit_once('.')?.1;
    KINDS.into_iter().find(|(kind, _)| *kind == end).map(|(_, kind)| kind)
}

/// Reads a file. Fails for a pipe, which would wait for its writer.
fn content_of(path: &Path) -> Result<Bytes> {
    let named = || path.display().to_string();
    ensure!(fs::metadata(path).with_context(named)?.is_file(), "{} is not a file", named());
    all_of(File::open(path).with_context(named)?, path)
}

/// Returns the file whose compressed copy is at this path.
fn unpacked(path: &Path) -> Result<Bytes> {
    all_of(MultiGzDecoder::new(&*content_of(path)?), path)
}

fn all_of(from: impl Read, path: &Path) -> Result<Bytes> {
    let named = || path.display().to_string();
    let mut content = Vec::new();
    from.take(FILE_BYTES_MAX + 1).read_to_end(&mut content).with_context(named)?;
    let is_small = content.len() as u64 <= FILE_BYTES_MAX;
    ensure!(is_small, "{} has more than {FILE_BYTES_MAX} bytes", named());
    Ok(content.into())
}
