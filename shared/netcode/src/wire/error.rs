//! Why messages are refused.

/// Why a message was refused. A refused message changes nothing.
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    #[error("the message is cut short")]
    Short,
    #[error("the message has bytes after its end")]
    Trailing,
    #[error("the message is of an unknown kind ({0})")]
    Kind(u8),
    #[error("the control message is of an unknown kind ({0})")]
    Message(u32),
    #[error("the message's {0} is out of range")]
    Range(&'static str),
    #[error("the message refers to a baseline that is not stored")]
    Baseline,
    #[error("the message's checksum is wrong: the two sides extrapolate differently")]
    Check,
    #[error("the message is longer than {0} bytes")]
    Long(usize),
    #[error("the message cannot be read")]
    Unreadable,
}
