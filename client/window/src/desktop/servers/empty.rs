//! What the server list says when it is empty.

use phaselock_quic::address::Address;
use phaselock_quic::survey::{Listing, SurveyView};

use super::list::Tab;
use phaselock_ui::words::{fill, tr};

/// Why a page shows no servers. `filtered`: whether there is a filter.
pub(super) fn why_empty(tab: Tab, filtered: bool, view: &SurveyView) -> String {
    let text = match tab {
        _ if filtered => tr("No server matches the filter."),
        Tab::Favourites => tr("No favourites yet: click a server's star."),
        Tab::History => tr("You have not joined a server yet."),
        Tab::Lan if view.is_busy => tr("Looking for servers on the local network ..."),
        Tab::Lan => {
            tr("No server answers on the local network. Friends can open theirs in the menu, \
                under Play here.")
        }
        Tab::Internet if view.listings.is_empty() => {
            tr("No directory is set, and there is no public one yet. Add one above if you \
                know its address.")
        }
        Tab::Internet => return why_unlisted(view),
    };
    text.to_owned()
}

fn why_unlisted(view: &SurveyView) -> String {
    let line = |(directory, listing): &(Address, Listing)| {
        let directory = directory.to_string();
        let values: &[_] = &[("directory", &*directory)];
        match listing {
            Listing::Asking => fill("Asking {directory} ...", values),
            Listing::Listed(_) => fill("{directory} lists no servers.", values),
            Listing::Silent => {
                fill("{directory} does not answer. Check its address and your connection.", values)
            }
            Listing::Unknown => fill("{directory} cannot be found. Check its spelling.", values),
        }
    };
    view.listings.iter().map(line).collect::<Vec<_>>().join("\n")
}
