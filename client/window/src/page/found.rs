//! A server that is not the page's own: a directory or a redirect has named it. The tab remembers
//! it for as long as the visit lasts, so that a reload of the page leads back to it.

use phaselock::address::Address;
use phaselock::client::Redirect;
use phaselock::wire::rooms::RoomCode;
use phaselock_web::network::server_of_redirect;
use phaselock_web::page::{self, keep_in_tab, of_tab};

/// Separates the parts in the tab's storage. None of them contains it.
const SEPARATOR: char = '\n';

/// A server that is not the page's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Its address.
    pub(super) address: Address,
    /// The room to ask for.
    pub(super) room: Option<RoomCode>,
    /// The text by which the page connects to it.
    pub(super) to: String,
}

impl Found {
    /// Returns the server of a redirect; `None` if its address is invalid.
    pub(super) fn of(redirect: &Redirect) -> Option<Self> {
        let address = redirect.address.parse().ok()?;
        Some(Self { address, room: None, to: server_of_redirect(redirect) })
    }

    /// Returns the server on which the player was when the page was reloaded.
    pub(super) fn of_tab() -> Option<Self> {
        let text = of_tab(&name())?;
        let mut parts = text.splitn(3, SEPARATOR);
        let (address, room, to) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self { address: address.parse().ok()?, room: room.parse().ok(), to: to.to_owned() })
    }
}

/// Stores the server on which the player is in the tab; `None` for the page's own.
pub(super) fn keep(found: Option<&Found>) {
    let text = found.map_or_else(String::new, |Found { address, room, to }| {
        let room = room.as_ref().map_or("", RoomCode::as_str);
        format!("{address}{SEPARATOR}{room}{SEPARATOR}{to}")
    });
    keep_in_tab(&name(), &text);
}

/// Name under which a tab stores the server. It includes the link, since another one leads
/// elsewhere.
fn name() -> String {
    format!("found/{}", page::link().unwrap_or_default())
}
