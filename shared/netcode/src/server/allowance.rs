//! Allowances of a member's talk, one for each kind of it.

use super::bucket::Bucket;

/// Allowances of one member.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TalkAllowance {
    pub(super) chat: Bucket,
    pub(super) quick: Bucket,
    pub(super) marks: Bucket,
    pub(super) styles: Bucket,
}
