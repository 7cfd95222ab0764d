//! `mica ext`: look at extensions, try them, begin one, and say what they may do.

mod starter;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail};
use mica_ext::World;
use mica_ext::script::{self, API_TYPES, Setting};
use mica_ext::world::NoWorld;
use serde_json::json;

use crate::cli::Form;
use crate::cli::ext::ExtCommand;
use crate::equipment::extensions::Shelf;
use crate::equipment::extensions::found::{Found, Whose, project_folder, user_folder};
use crate::equipment::extensions::permits::Permits;
use crate::equipment::extensions::rows::{self, Brings, Row};
use crate::equipment::extensions::store::{Store, replace};
use crate::exit::Exit;
use crate::render::question::{plain, plain_page};
use crate::surroundings::Surroundings;

/// Does it, and prints what there is to say.
///
/// # Errors
/// An extension that is not there, or a file that cannot be written.
#[allow(clippy::print_stdout, reason = "a program speaks")]
pub async fn run(command: &ExtCommand, shelf: &Shelf) -> Result<Exit> {
    let surroundings = &shelf.surroundings;
    let text = match command {
        ExtCommand::List { format } => list(shelf, *format).await,
        ExtCommand::Check { path, format } => {
            let (text, exit) = check(&surroundings.folder.join(path), *format).await?;
            print!("{text}");
            return Ok(exit);
        }
        ExtCommand::New { name, project } => new(surroundings, name, *project)?,
        ExtCommand::Types { out: None } => API_TYPES.to_owned(),
        ExtCommand::Types { out: Some(path) } => {
            let path = surroundings.folder.join(path);
            replace(&path, API_TYPES.as_bytes()).map_err(|error| anyhow!(error))?;
            format!("{}\n", path.display())
        }
        ExtCommand::Allow { name, revoke } => allow(shelf, name, *revoke)?,
        ExtCommand::Disable { name } => turn(shelf, name, false)?,
        ExtCommand::Enable { name } => turn(shelf, name, true)?,
        ExtCommand::Log { name } => log(shelf, name)?,
    };
    print!("{text}");
    Ok(Exit::Done)
}

/// The list. Those that are used are loaded in their cages, with nothing around them, to see what they bring.
async fn list(shelf: &Shelf, form: Form) -> String {
    let world: Arc<dyn World> = Arc::new(NoWorld);
    let rows: Vec<Row> = shelf.load(&world).await.into_iter().map(|(row, _)| row).collect();
    match form {
        Form::Json => format!("{}\n", json!(rows.iter().map(Row::value).collect::<Vec<_>>())),
        Form::Text if rows.is_empty() => format!(
            "there are none: put files into {} or {}, or begin with `mica ext new NAME`\n",
            user_folder(&shelf.surroundings).display(),
            project_folder(&shelf.surroundings.folder).display()
        ),
        Form::Text => plain_page(&rows::text(&rows)),
    }
}

async fn check(path: &Path, form: Form) -> Result<(String, Exit)> {
    let found = Found::read(Whose::Named, path.to_owned());
    let bundle = found.bundle.as_ref().map_err(|why| anyhow!("{}: {}", path.display(), plain(why)))?;
    let granted = bundle.manifest().permissions.clone();
    let loaded = script::load(bundle, Setting::new(Arc::new(NoWorld)).granting(granted)).await;
    let name = found.name();
    Ok(match (loaded, form) {
        (Ok(extension), Form::Json) => {
            let brings = Brings::of(&extension.registry).value();
            let row = json!({ "name": name, "ok": true, "brings": brings, "asks": found.asks() });
            (format!("{row}\n"), Exit::Done)
        }
        (Err(error), Form::Json) => {
            (format!("{}\n", json!({ "name": name, "ok": false, "error": error.to_string() })), Exit::Error)
        }
        (Ok(extension), Form::Text) => {
            let brings = Brings::of(&extension.registry).line();
            let brings = if brings.is_empty() { "registers nothing".to_owned() } else { brings };
            let asks = found.asks();
            let asks = if asks.is_empty() { "nothing".to_owned() } else { asks.join(", ") };
            (format!("{} loads: {}\nasks for: {}\n", plain(&name), plain(&brings), plain(&asks)), Exit::Done)
        }
        (Err(error), Form::Text) => (plain_page(&format!("{name} does not load: {error}")), Exit::Error),
    })
}

fn new(surroundings: &Surroundings, name: &str, project: bool) -> Result<String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
        bail!("{name:?} is no name for an extension: letters, digits, - and _, 64 at most");
    }
    let folder = if project { project_folder(&surroundings.folder) } else { user_folder(surroundings) };
    let path = folder.join(format!("{name}.ts"));
    if path.exists() {
        bail!("{} is there already", path.display());
    }
    replace(&path, starter::text(name).as_bytes()).map_err(|error| anyhow!(error))?;
    let types = folder.join("mica.d.ts");
    if !types.exists() {
        replace(&types, API_TYPES.as_bytes()).map_err(|error| anyhow!(error))?;
    }
    let trust = if project { "; `mica trust` lets it run" } else { "" };
    Ok(format!("{}\n`mica ext check {}` tries it{trust}\n", path.display(), path.display()))
}

/// The extension of a name, wherever it is.
fn named(shelf: &Shelf, name: &str) -> Result<Found> {
    let all = crate::equipment::extensions::found::all(&shelf.surroundings, &shelf.named);
    let names: Vec<String> = all.iter().map(Found::name).collect();
    all.into_iter().find(|found| found.name() == name).with_context(|| match names.as_slice() {
        [] => format!("there is no extension {name:?}, and no other"),
        names => format!("there is no extension {name:?}; there are {}", names.join(", ")),
    })
}

fn allow(shelf: &Shelf, name: &str, revoke: bool) -> Result<String> {
    let mut permits = Permits::kept(&shelf.surroundings)?;
    if revoke {
        let was = permits.granted.remove(name).is_some();
        permits.keep(&shelf.surroundings)?;
        return Ok(format!(
            "{name} {}\n",
            if was { "is allowed nothing any more" } else { "was allowed nothing" }
        ));
    }
    let found = named(shelf, name)?;
    if let Err(why) = &found.bundle {
        bail!("{}: {why}", found.path.display());
    }
    if found.whose == Whose::Project {
        bail!("{name} is the project's: `mica trust` trusts it with what it asks for");
    }
    let asks = found.asks();
    if asks.is_empty() {
        return Ok(format!("{name} asks for nothing\n"));
    }
    permits.grant(name, &asks);
    permits.keep(&shelf.surroundings)?;
    Ok(format!("{name} may now: {}\n", asks.join(", ")))
}

fn turn(shelf: &Shelf, name: &str, on: bool) -> Result<String> {
    let mut permits = Permits::kept(&shelf.surroundings)?;
    if !on {
        named(shelf, name)?;
        permits.disabled.insert(name.to_owned());
    } else if !permits.disabled.remove(name) {
        let by_settings = shelf.values.disable.iter().any(|other| other == name);
        if !by_settings {
            named(shelf, name)?;
        }
        let why =
            if by_settings { "is off by your settings: take it out of extensions.disable" } else { "was on" };
        return Ok(format!("{name} {why}\n"));
    }
    permits.keep(&shelf.surroundings)?;
    Ok(format!("{name} is {}\n", if on { "on" } else { "off" }))
}

fn log(shelf: &Shelf, name: &str) -> Result<String> {
    let path: PathBuf = Store::new(shelf.surroundings.data.join("extensions")).log_file(name);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(plain_page(&text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            named(shelf, name)?;
            Ok(format!("{name} printed nothing; what it prints with console.log is in {}\n", path.display()))
        }
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
    }
}
