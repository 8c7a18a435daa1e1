//! Control messages on a QUIC stream, each prefixed with its length in two bytes.

use phaselock::wire::WireError;
use phaselock::wire::control::body_len;
use quinn::{ReadExactError, RecvStream};

/// Why no message came.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FrameError {
    /// The stream or the connection ended.
    #[error(transparent)]
    Stream(#[from] ReadExactError),
    /// The length exceeds the limit.
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// Reads the body of the next message.
pub(crate) async fn read_frame(receive: &mut RecvStream) -> Result<Vec<u8>, FrameError> {
    let mut prefix = [0; 2];
    receive.read_exact(&mut prefix).await?;
    let mut body = vec![0; body_len(prefix)?];
    receive.read_exact(&mut body).await?;
    Ok(body)
}
