//! Control messages on a QUIC stream: each behind its length in two bytes.

use phaselock::wire::WireError;
use phaselock::wire::control::body_len;
use quinn::{ReadExactError, RecvStream};

/// No message came.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FrameError {
    /// The stream ended, or the connection.
    #[error(transparent)]
    Stream(#[from] ReadExactError),
    /// The length is too great.
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
