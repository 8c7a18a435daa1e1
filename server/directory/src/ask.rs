//! Asks a running directory for its list, and whether it is healthy.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use phaselock::fingerprint::Fingerprint;
use phaselock::limits::QUESTION_BYTES;
use phaselock::wire::directory::{Answer, Question};
use phaselock::wire::query::Nonce;
use phaselock_quic::address::Address;
use phaselock_quic::attempts::{lookup, race};
use phaselock_quic::socket::unspecified;
use tokio::net::UdpSocket;
use tokio::time::timeout;

/// Time to wait for an answer, and number of attempts.
const PATIENCE: Duration = Duration::from_millis(600);
const TRIES: usize = 4;
/// Maximum number of pages to ask for: as many as a directory has by default.
const PAGES_MAX: usize = 200;

/// Prints the list, one server per line: address and fingerprint.
pub fn print_list(directory: &Address) -> Result<()> {
    let servers = runtime()?.block_on(list(directory, PAGES_MAX))?;
    let mut text = String::new();
    for (address, fingerprint) in servers {
        let _ = writeln!(text, "{address} {fingerprint}");
    }
    write!(io::stdout(), "{text}").context("cannot write to the standard output")
}

/// Fails if the directory does not answer.
pub fn check_health(directory: &Address) -> Result<()> {
    runtime()?.block_on(list(directory, 1))?;
    // The exit status is the answer; the output may be closed.
    let _ = writeln!(io::stdout(), "{directory} answers");
    Ok(())
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("cannot start the network runtime")
}

/// Returns the servers on the first `pages_max` pages of the list, asking the first of the
/// directory's addresses to answer.
pub async fn list(directory: &Address, pages_max: usize) -> Result<Vec<(SocketAddr, Fingerprint)>> {
    let found = lookup(directory).await?;
    let answered = race(found, |remote| async move {
        let socket = UdpSocket::bind(unspecified(remote)).await?;
        socket.connect(remote).await?;
        let answer = ask(&socket, 0).await?;
        io::Result::Ok((remote, socket, answer))
    });
    let reached = answered.await.map_err(|last| last.unwrap_or(io::ErrorKind::NotFound.into()));
    let (remote, socket, mut answer) = reached.with_context(|| {
        format!("cannot reach {directory}; check the address, and that its UDP port is open")
    })?;
    let (mut servers, mut after) = (Vec::new(), 0);
    for page in 1.. {
        let Answer::Page { servers: more, next, .. } = answer else {
            bail!("{directory} answered, but it is not a Phaselock directory");
        };
        servers.extend(more.iter().map(|it| (it.address(remote), it.fingerprint)));
        // A page that does not advance would repeat forever.
        match next.filter(|next| *next > after && page < pages_max) {
            Some(next) => after = next,
            None => break,
        }
        let silent = || format!("{directory} no longer answers; the list is incomplete");
        answer = ask(&socket, after).await.with_context(silent)?;
    }
    Ok(servers)
}

async fn ask(socket: &UdpSocket, after: u32) -> io::Result<Answer> {
    let mut nonce = Nonce::default();
    getrandom::fill(&mut nonce)?;
    let mut bytes = [0; QUESTION_BYTES + 1];
    for _ in 0..TRIES {
        // A question that cannot be sent times out like one that is lost.
        let _ = socket.send(&Question::List { after }.encode(nonce)).await;
        if let Ok(Ok(len)) = timeout(PATIENCE, socket.recv(&mut bytes)).await
            && let Ok(answer) = Answer::parse(&bytes[..len], nonce)
        {
            return Ok(answer);
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "no answer"))
}
