//! `mica mcp serve`: what mica knows and can do about Synapse, for other agents.
//!
//! It reads what lies below the folders it was started for and writes only when it was started to. It asks no model, and
//! needs no settings and no home.

mod answer;
mod completion;
mod offer;
mod plumbing;
mod prompts;
mod resources;
mod site;
mod tools;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::cli::serve::ServeFlags;
use crate::exit::Exit;
use offer::MicaOffer;
use plumbing::http::{Options, PATH};
use plumbing::{Desk, http, stdio};
use site::Site;

/// The shortest token that is taken from a file: shorter ones can be guessed.
const SHORTEST: usize = 16;

/// Serves until the client goes away, or somebody ends the program.
///
/// # Errors
/// When a folder, an address or a token cannot be used.
pub async fn run(flags: &ServeFlags, folder: Option<&Path>) -> Result<Exit> {
    let here = match folder {
        Some(folder) => folder.to_path_buf(),
        None => std::env::current_dir().context("the current folder is gone")?,
    };
    let roots: Vec<PathBuf> = if flags.root.is_empty() {
        vec![here]
    } else {
        flags.root.iter().map(|root| here.join(root)).collect()
    };
    let site = Site::new(&roots, flags.write)?;
    let desk = Desk::new(MicaOffer::new(site), Duration::from_secs(flags.time));
    let stop = CancellationToken::new();
    let watching = tokio::spawn(ended(stop.clone()));
    let served = match flags.http {
        None => over_stdio(desk, stop).await,
        Some(_) => over_http(desk, flags, stop).await,
    };
    watching.abort();
    served.map(|()| Exit::Done)
}

async fn over_stdio(desk: Desk<MicaOffer>, stop: CancellationToken) -> Result<()> {
    let notice: stdio::Notice = Arc::new(tell);
    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
    let served = stdio::serve(desk, input, output, notice, stop).await;
    served.map_err(|error| anyhow::anyhow!("the client broke the connection: {error}"))
}

async fn over_http(desk: Desk<MicaOffer>, flags: &ServeFlags, stop: CancellationToken) -> Result<()> {
    let Some(address) = flags.http else { bail!("there is no address") };
    let token = token(flags)?;
    if !address.ip().is_loopback() {
        if !flags.allow_remote {
            bail!("{address} can be reached from other machines; say --allow-remote if that is meant");
        }
        if token.is_none() {
            bail!(
                "with --allow-remote everybody who reaches {address} could ask: add --token-file or --generate-token"
            );
        }
        if address.ip().is_unspecified() && flags.allow_host.is_empty() {
            bail!(
                "{} is every address of this machine: say by which name it is asked, with --allow-host NAME",
                address.ip()
            );
        }
    }
    let listener =
        TcpListener::bind(address).await.with_context(|| format!("{address} cannot be listened on"))?;
    let bound = listener.local_addr().context("the address is not known")?;
    let mut lines = format!("http://{bound}{PATH}\n");
    if let Some(token) = token.as_ref().filter(|_| flags.generate_token) {
        lines.push_str(&format!("Authorization: Bearer {token}\n"));
    }
    let mut out = std::io::stdout();
    out.write_all(lines.as_bytes()).and_then(|()| out.flush()).context("the address cannot be printed")?;
    let options = Options {
        token,
        hosts: flags.allow_host.clone(),
        origins: flags.allow_origin.clone(),
        deadline: Duration::from_secs(flags.time + 30),
        ..Options::default()
    };
    http::serve(desk, listener, options, stop).await.context("connections cannot be accepted any more")
}

/// The token that clients must send.
fn token(flags: &ServeFlags) -> Result<Option<String>> {
    if flags.generate_token {
        return generated().map(Some);
    }
    let Some(file) = &flags.token_file else { return Ok(None) };
    let shown = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("the token {shown} cannot be read"))?;
    let token = text.trim();
    if token.len() < SHORTEST || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        bail!(
            "the token in {shown} must be one word of {SHORTEST} characters or more; --generate-token makes one"
        );
    }
    Ok(Some(token.to_owned()))
}

/// A token that nobody can guess.
fn generated() -> Result<String> {
    use std::io::Read as _;
    let mut bytes = [0_u8; 24];
    let source = Path::new("/dev").join("urandom");
    let read = std::fs::File::open(&source).and_then(|mut file| file.read_exact(&mut bytes));
    read.with_context(|| format!("no token can be made: {} cannot be read", source.display()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Waits until somebody ends the program.
async fn ended(stop: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    match (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) {
        (Ok(mut interrupt), Ok(mut terminate)) => {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        }
        _ => std::future::pending().await,
    }
    stop.cancel();
}

/// Says something to whoever watches. Standard output belongs to the client.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "mica: {text}");
}
