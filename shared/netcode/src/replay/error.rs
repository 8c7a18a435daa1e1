//! Why a recording cannot be read.

/// Why a recording cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The bytes are something else.
    #[error("this is not a recording of Phaselock")]
    Foreign,
    /// A newer version wrote it.
    #[error("the recording has format {0}, which this version cannot read; use a newer version")]
    Newer(u16),
    /// An older version wrote it.
    #[error(
        "the recording has format {0}, which this version can no longer read; use an older one"
    )]
    Older(u16),
    /// The end is missing.
    #[error("the recording is cut short")]
    Short,
    /// A checksum is wrong.
    #[error("the recording is damaged")]
    Damaged,
    /// The header is invalid although its checksum is right.
    #[error("the recording's header is invalid: {0}")]
    Header(&'static str),
    /// A chunk is invalid although its checksum is right.
    #[error("a part of the recording is invalid: {0}")]
    Chunk(&'static str),
}
