//! A person's choices about builds and the server.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use mica_sandbox::{Host, Weak};

/// Which Maven builds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MavenChoice {
    /// The project's wrapper when it has one, and the installed one otherwise.
    #[default]
    Either,
    /// The installed one.
    Installed,
    /// The project's wrapper.
    Wrapper,
}

impl std::str::FromStr for MavenChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Either),
            "mvn" => Ok(Self::Installed),
            "wrapper" => Ok(Self::Wrapper),
            other => Err(format!("mi.maven is {other:?}; it can be auto, mvn or wrapper")),
        }
    }
}

/// Who logs in to the management API.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// The name.
    pub user: String,
    /// The password. Nobody is shown it.
    pub password: String,
}

impl Default for Login {
    /// What a fresh server has.
    fn default() -> Self {
        Self { user: "admin".to_owned(), password: "admin".to_owned() }
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

/// A person's choices.
#[derive(Debug, Clone)]
pub struct RuntimeSettings {
    /// The folder of the server.
    pub runtime: Option<PathBuf>,
    /// The Java that builds and runs.
    pub java_home: Option<PathBuf>,
    /// Which Maven builds.
    pub maven: MavenChoice,
    /// Where Maven keeps what it downloads; builds may write there.
    pub local_repository: Option<PathBuf>,
    /// Where the project's wrapper keeps the Maven that it downloads.
    pub wrapper_folder: Option<PathBuf>,
    /// Maven's settings of the user, when there are any. They can hold passwords.
    pub user_settings: Option<PathBuf>,
    /// Whether builds may read them.
    pub reads_user_settings: bool,
    /// Hosts that builds reach.
    pub hosts: Vec<Host>,
    /// What to do about hosts where the kernel can only check ports.
    pub weak: Weak,
    /// How long a build may take.
    pub build_timeout: Duration,
    /// How long a start is waited for.
    pub server_timeout: Duration,
    /// How long the server has to stop by itself.
    pub stop_timeout: Duration,
    /// How long a deployment is waited for.
    pub deploy_timeout: Duration,
    /// Who logs in to the management API.
    pub login: Login,
    /// The management API, when it is elsewhere than its port says.
    pub management: Option<String>,
    /// What `.env` is called.
    pub variables: PathBuf,
}

impl Default for RuntimeSettings {
    /// A quarter of an hour for a build that downloads everything; two minutes for a start, which takes ten seconds on a
    /// fast machine; twenty seconds to stop, which is what the server's own graceful stop takes with open connections.
    fn default() -> Self {
        Self {
            runtime: None,
            java_home: None,
            maven: MavenChoice::default(),
            local_repository: None,
            wrapper_folder: None,
            user_settings: None,
            reads_user_settings: false,
            hosts: Vec::new(),
            weak: Weak::Refuse,
            build_timeout: Duration::from_secs(900),
            server_timeout: Duration::from_secs(120),
            stop_timeout: Duration::from_secs(20),
            deploy_timeout: Duration::from_secs(60),
            login: Login::default(),
            management: None,
            variables: PathBuf::from(".env"),
        }
    }
}
