//! The page on which browsers play: its files over HTTPS, and over HTTP for a browser on this
//! machine, both on one TCP port. It has its own thread, separate from the administration's, since
//! anyone may send it requests.

mod answers;
mod connections;
mod files;
mod limits;
mod public;
#[cfg(test)]
mod tests;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result};
use phaselock::address::canonical;
use phaselock_quic::local::own_addresses;
use rustls::ServerConfig;
use tokio::sync::{oneshot, watch};
use tokio_rustls::TlsAcceptor;

pub(crate) use self::answers::Facts;
use self::files::Files;
use self::limits::Bounds;
use crate::config::Config;
use crate::host::Host;

/// ALPN protocol of the page's connections.
pub(crate) const ALPN: &[u8] = b"http/1.1";

/// A listener for the page, and the page's files.
#[derive(Debug)]
pub(crate) struct Bound {
    listener: TcpListener,
    files: Files,
}

/// Reads the page's files and listens on its address, if there should be a page.
pub(crate) fn bind(config: &Config) -> Result<Option<Bound>> {
    let Some(address) = config.http.web else { return Ok(None) };
    let files = Files::load(&folders(config))?;
    let bound = listen(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    let listener = bound.with_context(|| {
        format!("cannot listen on {address} for the page; choose another --web, or off")
    })?;
    Ok(Some(Bound { listener, files }))
}

/// Checks the page's files, if there should be a page.
pub(crate) fn check(config: &Config) -> Result<()> {
    if config.http.web.is_some() {
        Files::load(&folders(config))?;
    }
    Ok(())
}

/// Returns the folders where the files may be.
fn folders(config: &Config) -> Vec<PathBuf> {
    config.http.web_files.clone().map_or_else(next_to_program, |folder| vec![folder])
}

/// Listens on IPv4 only, if the address is unspecified and the machine has no IPv6.
fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    match TcpListener::bind(canonical(address)) {
        Err(error)
            if error.kind() != std::io::ErrorKind::AddrInUse
                && address.is_ipv6()
                && address.ip().is_unspecified() =>
        {
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, address.port()))
        }
        bound => bound,
    }
}

/// Returns the folders relative to the program's: those of the build and of packages.
fn next_to_program() -> Vec<PathBuf> {
    let program = std::env::current_exe().ok();
    let folder = program.as_deref().and_then(|program| program.parent()?.parent());
    let folder = folder.map(PathBuf::from).unwrap_or_default();
    ["web", "share/phaselock/web"].map(|name| folder.join(name)).into()
}

/// Returns the links to the page, for a browser on this machine and for others; empty if there is
/// none. An authority's certificate is valid only for its `host`.
fn links(at: SocketAddr, host: Option<&str>) -> (String, String) {
    let (ip, port) = (at.ip(), at.port());
    // On the loopback, the page is behind a proxy, at a port of its own.
    if let Some(host) = host.filter(|_| !ip.is_loopback()) {
        return (String::new(), format!("https://{host}:{port}/"));
    }
    if ip.is_loopback() {
        return (format!("http://{at}/"), String::new());
    }
    if !ip.is_unspecified() {
        return (String::new(), format!("https://{at}/"));
    }
    let elsewhere = own_addresses().first().map(|ip| SocketAddr::from((*ip, port)));
    let elsewhere = elsewhere.map(|at| format!("https://{at}/")).unwrap_or_default();
    (format!("http://127.0.0.1:{port}/"), elsewhere)
}

impl Bound {
    /// TCP port of the page.
    pub(crate) fn port(&self) -> Option<u16> {
        self.listener.local_addr().ok().map(|at| at.port())
    }

    /// Serves the page for as long as the process runs. The receiver resolves when the thread ends.
    pub(crate) fn serve(
        self,
        mut tls: ServerConfig,
        facts: Facts,
        host: Arc<Host>,
    ) -> Result<oneshot::Receiver<()>> {
        // A browser comes back for only a file or two, so session tickets would gain little.
        tls.alpn_protocols = vec![ALPN.to_vec()];
        let tls = TlsAcceptor::from(Arc::new(tls));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("cannot start the page's runtime")?;
        let (alive, ended) = oneshot::channel();
        let Self { listener, files } = self;
        let at = listener.local_addr().context("the page's listener has no address")?;
        let bytes_per_second = facts.config.borrow().http.web_bytes;
        let (here, elsewhere) = links(at, facts.certificates.host().as_deref());
        tracing::info!(
            name: "page_listening",
            here,
            elsewhere,
            "players can join from a browser at these links"
        );
        if facts.config.borrow().http.public_page {
            let [here, elsewhere] = [&here, &elsewhere].map(|link| public::link(link));
            tracing::info!(
                name: "public_page_listening",
                here,
                elsewhere,
                "the public page is at these links"
            );
        }
        let thread = thread::Builder::new().name("page".into());
        let thread = thread.spawn(move || {
            // Dropped when the thread ends, for whatever reason.
            let _alive: oneshot::Sender<()> = alive;
            let (publish, public) = watch::channel(None);
            let page = Arc::new(answers::Page { files, facts, public });
            let bounds = Arc::new(Bounds::new(bytes_per_second));
            runtime.block_on(async {
                tokio::select! {
                    () = connections::serve(listener, tls, page, bounds) => {}
                    () = public::publish(&host, &publish) => {}
                }
            });
        });
        thread.context("cannot start a thread for the page")?;
        Ok(ended)
    }
}
