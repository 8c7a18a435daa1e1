//! A UDP socket that asks nothing special of the system.

use std::fmt;
use std::future::Future;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};
use tokio::io::ReadBuf;
use tokio::net::UdpSocket;

/// Windows' error for a packet that is larger than the buffer (`WSAEMSGSIZE`). Elsewhere such a
/// packet is cut off, and no error has this number.
const TOO_LARGE: i32 = 10040;

/// Whether an error of receiving means nothing: anyone can cause it with a packet.
pub(crate) fn is_noise(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ConnectionReset || error.raw_os_error() == Some(TOO_LARGE)
}

/// A socket without packet information: replies leave from the address that the system chooses, and
/// packets may be fragmented.
#[derive(Debug)]
pub(super) struct PlainSocket(UdpSocket);

impl PlainSocket {
    pub(super) fn new(socket: std::net::UdpSocket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        UdpSocket::from_std(socket).map(Self)
    }
}

impl AsyncUdpSocket for PlainSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(Poller { socket: self, waiting: None })
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.0.try_send_to(transmit.contents, transmit.destination).map(drop)
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let (Some(buffer), Some(meta)) = (buffers.first_mut(), metas.first_mut()) else {
            return Poll::Ready(Ok(0));
        };
        loop {
            let mut filled = ReadBuf::new(buffer);
            let addr = match ready!(self.0.poll_recv_from(cx, &mut filled)) {
                Err(error) if is_noise(&error) => continue,
                received => received?,
            };
            let len = filled.filled().len();
            *meta = RecvMeta { addr, len, stride: len, ecn: None, dst_ip: None };
            return Poll::Ready(Ok(1));
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

/// Waits until the socket can be written.
struct Poller {
    socket: Arc<PlainSocket>,
    waiting: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send + Sync>>>,
}

impl fmt::Debug for Poller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Poller").field(&self.socket).finish()
    }
}

impl UdpPoller for Poller {
    fn poll_writable(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let socket = Arc::clone(&self.socket);
        let wait =
            self.waiting.get_or_insert_with(|| Box::pin(async move { socket.0.writable().await }));
        let ready = ready!(wait.as_mut().poll(cx));
        self.waiting = None;
        Poll::Ready(ready)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[tokio::test]
    async fn packets_go_both_ways_and_an_empty_one_is_one() {
        let any = || std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let [a, b] = [any(), any()].map(|it| Arc::new(PlainSocket::new(it).expect("a socket")));
        let to = |socket: &PlainSocket| socket.local_addr().expect("it is bound");
        for (from, at, contents) in [(&a, &b, &b"there"[..]), (&b, &a, b"and back"), (&a, &b, b"")]
        {
            let destination = to(at);
            let (ecn, segment_size, src_ip) = (None, None, None);
            let mut poller = Arc::clone(from).create_io_poller();
            poll_fn(|cx| poller.as_mut().poll_writable(cx)).await.expect("it is writable");
            from.try_send(&Transmit { destination, ecn, contents, segment_size, src_ip })
                .expect("it is sent");
            let mut bytes = [0; 100];
            let mut metas = [RecvMeta::default()];
            let mut buffers = [IoSliceMut::new(&mut bytes)];
            let filled = poll_fn(|cx| at.poll_recv(cx, &mut buffers, &mut metas)).await;
            assert_eq!(filled.expect("it comes"), 1);
            assert_eq!((metas[0].addr, metas[0].len), (to(from), contents.len()));
            assert_eq!(&bytes[..contents.len()], contents);
        }
    }
}
