//! Control messages on a QUIC stream: each behind its length in two bytes.

use phaselock::wire::control::body_len;
use quinn::RecvStream;

/// Reads the body of the next message. The error says why none came.
pub(crate) async fn read_frame(receive: &mut RecvStream) -> Result<Vec<u8>, String> {
    let mut prefix = [0; 2];
    receive.read_exact(&mut prefix).await.map_err(|error| error.to_string())?;
    let mut body = vec![0; body_len(prefix).map_err(|error| error.to_string())?];
    receive.read_exact(&mut body).await.map_err(|error| error.to_string())?;
    Ok(body)
}
