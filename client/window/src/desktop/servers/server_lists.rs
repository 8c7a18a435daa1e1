//! The player's own servers: favourites, history and directories, in `servers.toml` next to the
//! settings.
//!
//! An unreadable file is renamed before it would be overwritten, so nothing in it is lost. Changes
//! by another window are kept: each change is applied to the file as it is then.

use std::io;
use std::path::{Path, PathBuf};

use phaselock::limits::TEXT_BYTES_MAX;
use phaselock::textfile::{Text, TextError, line_at};
use phaselock::wire::text::{clip, printable};
use phaselock_quic::address::Address;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::files::{self, LockedFile};
use phaselock_ui::words::fill;

/// Maximum size of the file in bytes: every entry at its longest, twice. Arbitrary.
pub(crate) const FILE_BYTES_MAX: usize = 512 * 1024;
/// Maximum number of favourites, and of servers in the history; the oldest are dropped. Arbitrary.
pub(crate) const FAVOURITES_MAX: usize = 256;
pub(crate) const HISTORY_MAX: usize = 64;
/// Maximum number of directories; arbitrary.
pub(crate) const DIRECTORIES_MAX: usize = 8;

const HEAD: &str = "\
# Servers of Phaselock's window: favourites, the history (the last visit first), and directories.\n\
# The window rewrites this file when one of them changes.\n\n";

/// A known server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) address: Address,
    /// Name that the server had at the last visit, or when it was starred.
    pub(crate) name: String,
}

/// Favourites, history and directories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pages {
    pub(crate) favourites: Vec<Known>,
    pub(crate) history: Vec<Known>,
    pub(crate) directories: Vec<Address>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    address: Spanned<String>,
    #[serde(default)]
    name: String,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct FileText {
    directories: Vec<Spanned<String>>,
    favourites: Vec<Line>,
    history: Vec<Line>,
}

/// Why a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ServerListsError {
    #[error(transparent)]
    Text(#[from] TextError),
    #[error("line {line}: {cause}")]
    Malformed { line: usize, cause: String },
    #[error("line {line}: {text:?} is not an address")]
    Address { line: usize, text: String },
    #[error("it has {count} {lines}, but at most {most} are allowed")]
    TooMany { count: usize, lines: &'static str, most: usize },
}

impl Pages {
    /// Parses a file. Fails if it has more entries than the window keeps, rather than cutting them
    /// off.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, ServerListsError> {
        let toml = Text::decode(bytes, FILE_BYTES_MAX)?.unix();
        let line_at = |place: usize| line_at(toml.as_bytes(), place);
        let text: FileText =
            toml::from_str(&toml).map_err(|error| ServerListsError::Malformed {
                line: error.span().map_or(1, |span| line_at(span.start)),
                cause: printable(&error.message().trim().replace('\n', ", ")),
            })?;
        let no_address = |text: Spanned<String>| ServerListsError::Address {
            line: line_at(text.span().start),
            text: clip(text.get_ref(), TEXT_BYTES_MAX).to_owned(),
        };
        let bounded = |count, lines, most| match count > most {
            true => Err(ServerListsError::TooMany { count, lines, most }),
            false => Ok(()),
        };
        bounded(text.directories.len(), "directories", DIRECTORIES_MAX)?;
        bounded(text.favourites.len(), "favourites", FAVOURITES_MAX)?;
        bounded(text.history.len(), "visits", HISTORY_MAX)?;
        let known = |lines: Vec<Line>| {
            let known = |line: Line| {
                let address = line.address.get_ref().parse();
                let address = address.map_err(|_| no_address(line.address))?;
                Ok(Known { address, name: clean(&line.name) })
            };
            lines.into_iter().map(known).collect::<Result<Vec<_>, ServerListsError>>()
        };
        let directory = |text: Spanned<String>| {
            Address::parse_directory(text.get_ref()).map_err(|_| no_address(text))
        };
        let directories = text.directories.into_iter().map(directory);
        Ok(Self {
            directories: directories.collect::<Result<_, _>>()?,
            favourites: known(text.favourites)?,
            history: known(text.history)?,
        })
    }

    fn text(&self) -> String {
        let lines = |known: &[Known]| {
            let line = |it: &Known| Line { address: written(&it.address), name: it.name.clone() };
            known.iter().map(line).collect()
        };
        let text = FileText {
            directories: self.directories.iter().map(written).collect(),
            favourites: lines(&self.favourites),
            history: lines(&self.history),
        };
        // Strings and lists of strings can always be written.
        format!("{HEAD}{}", toml::to_string(&text).unwrap_or_default())
    }

    /// Notes a visit; the newest comes first.
    pub(crate) fn visited(&mut self, address: &Address, name: &str) {
        let name = clean(name);
        self.history.retain(|known| known.address != *address);
        self.history.insert(0, Known { address: address.clone(), name: name.clone() });
        self.history.truncate(HISTORY_MAX);
        for known in self.favourites.iter_mut().filter(|it| it.address == *address) {
            known.name.clone_from(&name);
        }
    }

    /// Adds or removes a server's star.
    pub(crate) fn star(&mut self, address: &Address, name: &str, starred: bool) {
        self.favourites.retain(|known| known.address != *address);
        if starred {
            self.favourites.insert(0, Known { address: address.clone(), name: clean(name) });
            self.favourites.truncate(FAVOURITES_MAX);
        }
    }

    pub(crate) fn is_starred(&self, address: &Address) -> bool {
        self.favourites.iter().any(|known| known.address == *address)
    }
}

/// An address for the file.
fn written(address: &Address) -> Spanned<String> {
    Spanned::new(0..0, address.to_string())
}

fn clean(name: &str) -> String {
    clip(&printable(name), TEXT_BYTES_MAX).to_owned()
}

/// The lists, with or without a file.
#[derive(Debug)]
pub(crate) struct ServerLists {
    pub(crate) pages: Pages,
    path: Option<PathBuf>,
    /// Why the file is not used or not written, in a sentence.
    problem: Option<String>,
}

impl ServerLists {
    /// Reads the lists from a file, which need not exist.
    pub(crate) fn open(path: Option<PathBuf>) -> Self {
        let read = path.as_deref().map_or(Ok(Pages::default()), |path| {
            files::read(path, FILE_BYTES_MAX).map_err(|error| error.to_string()).and_then(|bytes| {
                bytes.map_or(Ok(Pages::default()), |bytes| {
                    Pages::parse(&bytes).map_err(|error| error.to_string())
                })
            })
        });
        let name = path.as_deref().map(Path::display).map(|it| it.to_string()).unwrap_or_default();
        let (pages, problem) = match read {
            Ok(pages) => (pages, None),
            Err(why) => {
                let problem = fill(
                    "Ignoring your server list in {file}: {why}. The file is renamed when the \
                     list changes.",
                    &[("file", &name), ("why", &why)],
                );
                (Pages::default(), Some(problem))
            }
        };
        Self { pages, path, problem }
    }

    /// What is wrong with the file, in a sentence.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Changes the lists, and the file as it is now.
    pub(crate) fn change(&mut self, change: impl Fn(&mut Pages)) {
        let Some(path) = &self.path else { return change(&mut self.pages) };
        match save(path, &self.pages, &change) {
            Ok((pages, aside)) => {
                self.pages = pages;
                self.problem = aside.map(|aside| {
                    let aside = aside.display().to_string();
                    fill("The unreadable file is now called {file}.", &[("file", &aside)])
                });
            }
            Err(error) => {
                change(&mut self.pages);
                let (name, why) = (path.display().to_string(), error.to_string());
                self.problem = Some(fill(
                    "Cannot save your server list in {file}: {why}.",
                    &[("file", &name), ("why", &why)],
                ));
            }
        }
    }
}

/// Changes the file completely or not at all. An unreadable file is renamed first and replaced by
/// one with what this window knows. Returns its new name.
fn save(
    path: &Path,
    known: &Pages,
    change: &impl Fn(&mut Pages),
) -> io::Result<(Pages, Option<PathBuf>)> {
    let held = LockedFile::new(path)?;
    let (mut pages, mut aside) = (Pages::default(), None);
    if let Some(bytes) = held.read(FILE_BYTES_MAX)? {
        match Pages::parse(&bytes) {
            Ok(read) => pages = read,
            Err(_) => {
                pages.clone_from(known);
                aside = Some(held.set_aside()?);
            }
        }
    }
    change(&mut pages);
    held.write(pages.text().as_bytes())?;
    Ok((pages, aside))
}
