//! Values of settings that are written as words.

use phaselock::client::GhostChoice;
use phaselock::game::Strength;
use phaselock::limits::NAME_BYTES_MAX;
use toml_edit::Value;

use phaselock_ui::color_vision::Palette;

/// Maximum number of entries of a list in the file; arbitrary, and far above need.
pub(crate) const ITEMS_MAX: usize = 64;

/// A setting that is written as a word, or as a word or a number.
pub(crate) trait Word {
    /// Takes a value from the file. The error says what to write.
    fn take(&mut self, value: &Value) -> Result<(), String>;
    /// The value for the file.
    fn value(&self) -> Value;
}

/// Maximum number of frames per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameCap {
    /// As many as the display shows.
    Display,
    /// As many as the computer can draw.
    None,
    /// This many.
    PerSecond(u16),
}

impl FrameCap {
    /// Range of numbers.
    pub(crate) const RANGE: std::ops::RangeInclusive<u16> = 30..=500;
}

impl Word for FrameCap {
    fn take(&mut self, value: &Value) -> Result<(), String> {
        let number = value.as_integer().and_then(|number| u16::try_from(number).ok());
        *self = match (value.as_str(), number.filter(|number| Self::RANGE.contains(number))) {
            (Some("display"), _) => Self::Display,
            (Some("none"), _) => Self::None,
            (_, Some(number)) => Self::PerSecond(number),
            _ => return Err("\"display\", \"none\" or a number from 30 to 500".into()),
        };
        Ok(())
    }

    fn value(&self) -> Value {
        match self {
            Self::Display => "display".into(),
            Self::None => "none".into(),
            Self::PerSecond(number) => i64::from(*number).into(),
        }
    }
}

impl Word for GhostChoice {
    fn take(&mut self, value: &Value) -> Result<(), String> {
        *self = match value.as_str() {
            Some("off") => Self::Off,
            Some("own") => Self::Own,
            Some("best") => Self::Best,
            Some(text) if text.len() <= NAME_BYTES_MAX + 3 && text.starts_with("of ") => {
                Self::Of(text[3..].to_owned())
            }
            _ => return Err("\"off\", \"own\", \"best\" or \"of\" and a player's name".into()),
        };
        Ok(())
    }

    fn value(&self) -> Value {
        match self {
            Self::Off => "off".into(),
            Self::Own => "own".into(),
            Self::Best => "best".into(),
            Self::Of(name) => format!("of {name}").into(),
        }
    }
}

impl Word for Palette {
    fn take(&mut self, value: &Value) -> Result<(), String> {
        let found = Self::ALL.into_iter().find(|(_, name)| value.as_str() == Some(name));
        let wrong = "\"standard\", \"deuteranopia\", \"protanopia\" or \"tritanopia\"";
        (*self, _) = found.ok_or(wrong)?;
        Ok(())
    }

    fn value(&self) -> Value {
        let found = Self::ALL.into_iter().find(|(palette, _)| palette == self);
        found.map_or("standard", |(_, name)| name).into()
    }
}

impl Word for Strength {
    fn take(&mut self, value: &Value) -> Result<(), String> {
        let found = Self::NAMED.into_iter().find(|(name, _)| value.as_str() == Some(name));
        (_, *self) = found.ok_or("\"easy\", \"normal\" or \"hard\"")?;
        Ok(())
    }

    fn value(&self) -> Value {
        let found = Self::NAMED.into_iter().find(|(_, strength)| strength == self);
        found.map_or("normal", |(name, _)| name).into()
    }
}

/// Size of the window while it does not fill the screen, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WindowSize {
    pub(crate) width: u16,
    pub(crate) height: u16,
}

impl WindowSize {
    /// Range of each side.
    pub(crate) const SIDES: std::ops::RangeInclusive<u16> = 320..=16384;

    /// Parses a size, in the file and on the command line: `1280x720`.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let wrong = "write the width and the height as in 1280x720, each from 320 to 16384";
        let (width, height) = text.split_once(['x', 'X']).ok_or(wrong)?;
        let side = |text: &str| text.parse().ok().filter(|side| Self::SIDES.contains(side));
        let (width, height) = side(width).zip(side(height)).ok_or(wrong)?;
        Ok(Self { width, height })
    }
}

impl Word for WindowSize {
    fn take(&mut self, value: &Value) -> Result<(), String> {
        let wrong = "a size as in \"1280x720\", each from 320 to 16384";
        *self = value.as_str().and_then(|text| Self::parse(text).ok()).ok_or(wrong)?;
        Ok(())
    }

    fn value(&self) -> Value {
        format!("{}x{}", self.width, self.height).into()
    }
}

/// Language of the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// The system's language, if the program has it.
    System,
    /// The language with this code.
    Code(String),
}

/// Maximum length of a language code, as in `zh-hant-tw`; longer ones do not occur.
const CODE_MAX: usize = 16;

impl Language {
    /// Whether this can be a language code and a file name.
    pub(crate) fn is_code(code: &str) -> bool {
        let fine = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (2..=CODE_MAX).contains(&code.len()) && code.bytes().all(fine)
    }
}

impl Word for Language {
    fn take(&mut self, value: &Value) -> Result<(), String> {
        let wrong = "\"system\", or a code of small letters as in \"en\" or \"de\"";
        let code = value.as_str().filter(|code| Self::is_code(code)).ok_or(wrong)?;
        *self = if code == "system" { Self::System } else { Self::Code(code.to_owned()) };
        Ok(())
    }

    fn value(&self) -> Value {
        match self {
            Self::System => "system".into(),
            Self::Code(code) => code.as_str().into(),
        }
    }
}
