//! Where all players of a server are sent, as their clients are told.

use std::time::Duration;

use phaselock::wire::disconnect::Disconnect;
use phaselock::wire::query::WebIdentity;
use phaselock_quic::query::query_named;
use tokio::time::timeout;

use crate::config::{Config, Redirect};

/// Time for the other server to say how browsers recognize it. A drain waits for it.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Adds a redirect, if there is one, to a goodbye. Servers with a page ask the other server how
/// browsers recognize it: the digests of its certificates for browsers change every few days, so no
/// setting can name them.
pub(crate) async fn redirected(
    redirect: Option<&Redirect>,
    config: &Config,
    goodbye: Disconnect,
) -> Disconnect {
    let web = match redirect.filter(|_| config.http.web.is_some()) {
        Some(redirect) => identity(redirect).await,
        None => WebIdentity::default(),
    };
    Disconnect { web, ..Redirect::on(redirect, goodbye) }
}

/// Returns how browsers recognize the server of a redirect; empty if it does not say.
async fn identity(redirect: &Redirect) -> WebIdentity {
    let Redirect { address, fingerprint } = redirect;
    let Ok(there) = address.parse() else { return WebIdentity::default() };
    let why = match timeout(TIMEOUT, query_named(&there)).await {
        Ok(Ok((info, _))) if fingerprint.is_some() && info.fingerprint.is_none() => {
            "it does not say its fingerprint; update it".to_owned()
        }
        Ok(Ok((info, _))) if fingerprint.is_some() && info.fingerprint != *fingerprint => {
            "it has another fingerprint".to_owned()
        }
        Ok(Ok((info, _))) if info.web.is_empty() => "it admits no browsers".to_owned(),
        Ok(Ok((info, _))) => return info.web,
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("no answer within {TIMEOUT:?}"),
    };
    tracing::warn!(
        name: "redirect_without_browsers",
        %address,
        why,
        "cannot tell browsers how to recognize the redirect's server; they may be unable to follow"
    );
    WebIdentity::default()
}

#[cfg(test)]
mod tests {
    use phaselock::wire::disconnect::Code;
    use phaselock_games::skirmish::Skirmish;
    use phaselock_quic::identity::Identity;
    use phaselock_quic::server::{RoomsConfig, Server};
    use phaselock_quic::web::WebOptions;
    use tokio::net::UdpSocket;

    use super::*;

    #[tokio::test]
    async fn another_server_says_how_browsers_recognize_it() {
        let identity = Identity::ephemeral().expect("an identity");
        let here = "127.0.0.1:0".parse().expect("an address");
        let options = WebOptions { origins: Vec::new() };
        let server = Server::bind(here, &identity).expect("a socket");
        let server = server.for_browsers(&identity, options).expect("for browsers");
        let address = server.address().to_string();
        tokio::spawn(async move {
            let games = phaselock::games::Games::new().with::<Skirmish>();
            let forever = std::future::pending();
            server.run_rooms(&games, Default::default(), RoomsConfig::default(), forever).await
        });
        let silent = UdpSocket::bind(here).await.expect("a socket");
        let elsewhere = silent.local_addr().expect("an address").to_string();
        let mut config = Config::default();
        let own = Some(identity.fingerprint);
        let web = WebIdentity { hashes: identity.web().hashes(), host: String::new() };
        for (has_page, address, fingerprint, known) in [
            (true, &address, own, &web),
            (true, &address, None, &web),
            (true, &address, Some(web.hashes[0]), &WebIdentity::default()),
            (true, &elsewhere, own, &WebIdentity::default()),
            (false, &address, own, &WebIdentity::default()),
        ] {
            config.http.web = has_page.then_some(here);
            let redirect = Redirect { address: address.clone(), fingerprint };
            let goodbye = Disconnect::new(Code::Draining, "scale-down");
            let told = redirected(Some(&redirect), &config, goodbye.clone()).await;
            assert_eq!(
                (told.redirect.as_ref(), told.fingerprint, &told.web),
                (Some(address), fingerprint, known)
            );
            assert_eq!(redirected(None, &config, goodbye.clone()).await, goodbye);
        }
    }
}
