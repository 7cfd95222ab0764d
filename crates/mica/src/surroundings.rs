//! What the program finds around it: the environment, folders, the terminal. Read once, here, and handed on.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// What was found.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The environment.
    pub variables: BTreeMap<String, String>,
    /// The folder the agent works in.
    pub folder: PathBuf,
    /// Where settings are.
    pub config: PathBuf,
    /// Where sessions are.
    pub data: PathBuf,
    /// Whether a person can type.
    pub stdin_is_terminal: bool,
    /// How wide what is printed may be. What does not go to a terminal may be as wide as it is, unless `COLUMNS` says
    /// otherwise.
    pub columns: usize,
}

impl Surroundings {
    /// Looks around. `folder` is the one that was asked for.
    ///
    /// # Errors
    /// When the folder does not exist, or there is no home and no `MICA_HOME`.
    #[allow(clippy::disallowed_methods, reason = "the binary is where the environment is read")]
    pub fn look(folder: Option<&Path>) -> Result<Self> {
        let variables: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let here = std::env::current_dir().context("the current folder cannot be read")?;
        let folder = folder.map_or(here.clone(), |folder| here.join(folder));
        let folder = folder
            .canonicalize()
            .with_context(|| format!("{} is not a folder that can be worked in", folder.display()))?;
        let (config, data) = homes(&variables)?;
        // Scripts that show what they run say how wide it may be.
        let stated = variables.get("COLUMNS").and_then(|columns| columns.trim().parse().ok());
        let columns = terminal_columns().or(stated).filter(|columns| *columns > 0).unwrap_or(usize::MAX);
        let stdin_is_terminal = std::io::stdin().is_terminal();
        Ok(Self { variables, folder, config, data, stdin_is_terminal, columns })
    }

    /// A variable that is set to something.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).filter(|value| !value.trim().is_empty()).cloned()
    }
}

/// Columns of the terminal that is printed to, if one is.
fn terminal_columns() -> Option<usize> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    #[cfg(unix)]
    if let Ok(size) = rustix::termios::tcgetwinsize(std::io::stdout())
        && size.ws_col > 0
    {
        return Some(size.ws_col.into());
    }
    Some(80)
}

/// Where settings and data are: below `MICA_HOME`, else where the desktop's conventions put them.
fn homes(variables: &BTreeMap<String, String>) -> Result<(PathBuf, PathBuf)> {
    let get = |name: &str| variables.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(home) = get("MICA_HOME") {
        return Ok((home.join("config"), home.join("data")));
    }
    let home = get("HOME").or_else(|| get("USERPROFILE"));
    let below =
        |given: Option<PathBuf>, usual: &str| given.or_else(|| home.as_ref().map(|home| home.join(usual)));
    let config = below(get("XDG_CONFIG_HOME"), ".config")
        .context("set HOME or MICA_HOME: there is no place for settings")?;
    let data = below(get("XDG_DATA_HOME"), ".local/share")
        .context("set HOME or MICA_HOME: there is no place for sessions")?;
    Ok((config.join("mica"), data.join("mica")))
}
