//! Asks a running directory: for its list, and whether it is well.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::Ipv6Addr;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use phaselock::limits::QUESTION_BYTES;
use phaselock::wire::directory::{Answer, Listed, Question};
use phaselock::wire::query::Nonce;
use phaselock_quic::address::Address;
use tokio::net::{UdpSocket, lookup_host};
use tokio::time::timeout;

/// Time for an answer, and times that are asked.
const PATIENCE: Duration = Duration::from_millis(600);
const TRIES: usize = 4;
/// Pages that are asked for at most: a directory has no more by default.
const PAGES_MAX: usize = 200;

/// Prints the list, a server a line: address and fingerprint.
pub fn print_list(directory: &Address) -> Result<()> {
    let servers = runtime()?.block_on(list(directory, PAGES_MAX))?;
    let mut text = String::new();
    for server in servers {
        let ip = Ipv6Addr::from(server.ip).to_canonical();
        let address = std::net::SocketAddr::new(ip, server.port);
        let _ = writeln!(text, "{address} {}", server.fingerprint);
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

/// The servers of so many pages of the list.
pub async fn list(directory: &Address, pages_max: usize) -> Result<Vec<Listed>> {
    let unknown = || format!("cannot find {directory}; check its spelling");
    let (host, port) = (directory.host(), directory.port());
    let remote = lookup_host((host, port)).await.with_context(unknown)?.next();
    let remote = remote.with_context(unknown)?;
    let any = if remote.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let unreachable = || format!("cannot reach {directory}");
    let socket = UdpSocket::bind(any).await.with_context(unreachable)?;
    socket.connect(remote).await.with_context(unreachable)?;
    let (mut servers, mut after) = (Vec::new(), 0);
    for _ in 0..pages_max {
        let Answer::Page { servers: more, next, .. } = ask(&socket, after, directory).await? else {
            bail!("{directory} answers, but not as a directory does");
        };
        servers.extend(more);
        // A list that does not go on would never end.
        match next.filter(|next| *next > after) {
            Some(next) => after = next,
            None => break,
        }
    }
    Ok(servers)
}

async fn ask(socket: &UdpSocket, after: u32, directory: &Address) -> Result<Answer> {
    let mut nonce = Nonce::default();
    aws_lc_rs::rand::fill(&mut nonce).ok().context("the system gives no random numbers")?;
    let mut bytes = [0; QUESTION_BYTES + 1];
    for _ in 0..TRIES {
        // One that cannot be sent has no answer either.
        let _ = socket.send(&Question::List { after }.encode(nonce)).await;
        if let Ok(Ok(len)) = timeout(PATIENCE, socket.recv(&mut bytes)).await
            && let Ok(answer) = Answer::parse(&bytes[..len], nonce)
        {
            return Ok(answer);
        }
    }
    bail!("no answer from {directory}; check the address, and that its UDP port is open")
}
