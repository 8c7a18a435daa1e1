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

use self::args::CtlArgs;
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
        self.print(client.call(method, &path, body)?, text, &client)
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
