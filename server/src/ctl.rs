//! `phaselock-server ctl`: the administration API on the command line.

mod args;
mod calls;
mod client;
mod print;

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args as _, FromArgMatches as _};
use serde_json::{Value, json};

use self::args::{CtlArgs, CtlCommand};
use self::calls::{Call, Doing, Text, doing, text_of};
use self::client::Client;
use crate::api::Done;
use crate::config::Config;
use crate::data_dir::token_path;

/// A request to a running server.
#[derive(Clone, Debug)]
pub struct Ctl {
    address: SocketAddr,
    token_file: PathBuf,
    args: CtlArgs,
}

impl PartialEq for Ctl {
    fn eq(&self, other: &Self) -> bool {
        format!("{self:?}") == format!("{other:?}")
    }
}

/// Returns the subcommand for the command-line parser.
pub(crate) fn command() -> clap::Command {
    CtlArgs::augment_args(clap::Command::new("ctl").after_help(
        "ctl uses the token in the environment variable PHASELOCK_TOKEN. If that is unset, it \
         uses the first token, from the file admin-token in the data directory.",
    ))
}

/// Returns the parsed request, for the server of these settings.
pub(crate) fn parse(matches: &clap::ArgMatches, config: &Config) -> Result<Ctl, clap::Error> {
    let args = CtlArgs::from_arg_matches(matches)?;
    let Some(mut address) = config.operation.admin_listen else {
        let text = "admin_listen is off, so ctl cannot reach the server";
        return Err(clap::Error::raw(clap::error::ErrorKind::ValueValidation, text));
    };
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    Ok(Ctl { address, token_file: token_path(&config.operation.data_dir), args })
}

impl Ctl {
    /// Sends the request, and prints the answer.
    pub fn run(&self) -> Result<()> {
        let client = Client::new(self.address, &self.token_file)?;
        let CtlArgs { json, command } = &self.args;
        let call = match doing(command, |who| client.key_of(who))? {
            Doing::Ask(call) => call,
            Doing::Follow => return client.follow(*json),
            Doing::Download(path, to) => {
                let bytes = client.download(&path, &to)?;
                let done = format!("downloaded {}, {bytes} bytes", to.display());
                return self.print(json!({ "done": done }), text_of::<Done>, &client);
            }
        };
        let Call { method, path, body, text } = call;
        let answer = client.call(method, &path, body)?;
        let rows = answer.as_array().map_or(0, Vec::len);
        self.print(answer, text, &client)?;
        match *command {
            CtlCommand::Replays { lines, skip } if !json && rows > 0 && rows == lines as usize => {
                // The list is printed: without the hint, it is no failure.
                if let Ok(Some(hint)) = hint_of_more(&client, skip.saturating_add(lines)) {
                    let _ = writeln!(io::stderr(), "{hint}");
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Prints an answer, as text or as JSON.
    fn print(&self, answer: Value, text: Text, client: &Client) -> Result<()> {
        let text = match self.args.json {
            true => serde_json::to_string_pretty(&answer).context("cannot write JSON")?,
            false => text(answer).with_context(|| client.other())?,
        };
        let text = if text.is_empty() { "none" } else { text.trim_end() };
        // The reader may have closed the pipe.
        let _ = writeln!(io::stdout(), "{text}");
        Ok(())
    }
}

/// Returns how to see the recordings after the first `skip`, if there are any.
fn hint_of_more(client: &Client, skip: u32) -> Result<Option<String>> {
    let next = CtlCommand::Replays { lines: 1, skip };
    let Doing::Ask(call) = doing(&next, |who| client.key_of(who))? else { return Ok(None) };
    let answer = client.call(call.method, &call.path, call.body)?;
    let has_more = answer.as_array().is_some_and(|rows| !rows.is_empty());
    Ok(has_more.then(|| format!("for older recordings, add --skip {skip}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::author::Role;
    use crate::tests::{author, serve};

    #[test]
    fn a_list_of_recordings_says_how_to_see_older_ones() {
        let served = serve(&["--record", "memory"]);
        let admin = author(Role::Admin);
        let made = served.host.make_token(&admin, "reader", Role::Viewer);
        let token_file = served.dir.path().join("reader");
        std::fs::write(&token_file, served.wait(made).expect("a name")).expect("writable");
        let client = Client::new(served.admin, &token_file).expect("it has a token");
        for name in ["a.plr", "b.plr", "c.plr"] {
            std::fs::write(served.dir.path().join("replays").join(name), "").expect("writable");
        }
        let hint = |skip| hint_of_more(&client, skip).expect("it answers");
        assert_eq!(hint(2).as_deref(), Some("for older recordings, add --skip 2"));
        assert_eq!(hint(3), None);
    }
}
