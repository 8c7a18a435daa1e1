//! Why a message is refused.

/// Why a message was refused. It then changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// It ends too early.
    #[error("the message is cut short")]
    Short,
    /// It goes on after its end, or its padding is not zero.
    #[error("the message has something after its end")]
    Trailing,
    /// It is of no kind that is known here.
    #[error("the message is of an unknown kind ({0})")]
    Kind(u8),
    /// A number in it is outside of its range.
    #[error("the message's {0} is out of range")]
    Range(&'static str),
    /// It refers to a state that is not here.
    #[error("the message builds on a baseline that is not here")]
    Baseline,
    /// What it tells is not what was meant.
    #[error("the message's checksum is wrong: the two sides extrapolate differently")]
    Check,
    /// It is longer than its kind may be.
    #[error("the message is longer than {0} bytes")]
    Long(usize),
    /// A control message that postcard cannot read.
    #[error("the message cannot be read")]
    Unreadable,
}
