//! The server that players are sent to, as a setting.

use std::fmt;

use phaselock::fingerprint::Fingerprint;
use phaselock::invitation::{Invitation, SCHEME};
use phaselock::limits::TEXT_BYTES_MAX;
use phaselock::wire::disconnect::Disconnect;

/// Server that players are sent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// Its address, as `host:port`.
    pub address: String,
    /// Fingerprint of its certificate. Players only take their seats along if it is known.
    pub fingerprint: Option<Fingerprint>,
}

impl Redirect {
    /// Parses an address, an address with `#` and a fingerprint, or a link. The error is the rule
    /// that it breaks.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let rule = "a name or an IP address, and a port if it is not 4433; # and the fingerprint \
                    of its certificate may follow";
        let is_short = text.contains('#') && !Invitation::is_link(text);
        let link = if is_short { format!("{SCHEME}{text}") } else { text.to_owned() };
        let Invitation { address, fingerprint } = link.parse().map_err(|_| rule)?;
        if address.host().contains('%') {
            let local = "an address that players can reach; a link-local address with a network \
                         interface of this machine is not";
            return Err(local.to_owned());
        }
        let address = address.to_string();
        let fits = address.len() <= TEXT_BYTES_MAX;
        fits.then_some(Self { address, fingerprint }).ok_or_else(|| rule.to_owned())
    }

    /// Adds a redirect, if there is one, to a goodbye.
    pub(crate) fn on(redirect: Option<&Self>, goodbye: Disconnect) -> Disconnect {
        let Some(Self { address, fingerprint }) = redirect else { return goodbye };
        Disconnect { redirect: Some(address.clone()), fingerprint: *fingerprint, ..goodbye }
    }
}

impl fmt::Display for Redirect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address)?;
        self.fingerprint.map_or(Ok(()), |fingerprint| write!(f, "#{fingerprint}"))
    }
}
