//! Ports of the server. Its own tables count from an offset of 10, which is what a fresh server has.

use std::path::Path;

use crate::runtime::contained;

/// The offset that the usual ports have in them.
const USUAL: i32 = 10;
/// Bytes of settings.
const LONGEST: u64 = 1 << 20;

/// The ports of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ports {
    pub(super) http: u16,
    pub(super) https: u16,
    pub(super) readiness: u16,
    pub(super) management: u16,
}

impl Ports {
    /// With an offset.
    fn with(offset: i32) -> Self {
        let port = |base: i32| u16::try_from(base.saturating_add(offset).saturating_sub(USUAL)).unwrap_or(0);
        Self { http: port(8290), https: port(8253), readiness: port(9201), management: port(9164) }
    }

    /// Those that a server will have when it is started for a project: by the project's settings, which are put over the
    /// server's own, or by those.
    pub(super) fn coming(project: &Path, home: &Path) -> Self {
        match settings(project, "deployment/deployment.toml") {
            Some(text) => Self::with(offset(&text).unwrap_or(USUAL)),
            None => Self::running(home),
        }
    }

    /// Those of a server that runs. Only its own settings count: a project that says something else must not choose who is
    /// given the password of the management API.
    pub(super) fn running(home: &Path) -> Self {
        let text = settings(home, "conf/deployment.toml");
        Self::with(text.and_then(|text| offset(&text)).unwrap_or(USUAL))
    }
}

fn settings(base: &Path, path: &str) -> Option<String> {
    contained::text(base, Path::new(path), LONGEST).ok()
}

/// `[server] offset`, a number or a text.
fn offset(text: &str) -> Option<i32> {
    let table: toml::Table = text.parse().ok()?;
    let value = table.get("server")?.get("offset")?;
    let number = value.as_integer().and_then(|number| i32::try_from(number).ok());
    number.or_else(|| value.as_str()?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests write files")]
    use super::*;

    #[test]
    fn the_offset_counts_from_ten() {
        for (text, expected) in [
            ("", [8290, 8253, 9201, 9164]),
            ("[server]\nhostname = \"localhost\"\n", [8290, 8253, 9201, 9164]),
            ("[server]\noffset = 10\n", [8290, 8253, 9201, 9164]),
            ("[server]\noffset = \"0\"\n", [8280, 8243, 9191, 9154]),
            ("[server]\noffset = 15\n", [8295, 8258, 9206, 9169]),
            ("broken = = toml", [8290, 8253, 9201, 9164]),
        ] {
            let ports = Ports::with(offset(text).unwrap_or(USUAL));
            assert_eq!([ports.http, ports.https, ports.readiness, ports.management], expected, "{text}");
        }
    }

    #[test]
    fn a_project_says_nothing_about_a_server_that_runs() {
        let folder = tempfile::tempdir().unwrap();
        let (project, home) = (folder.path().join("p"), folder.path().join("s"));
        std::fs::create_dir_all(project.join("deployment")).unwrap();
        std::fs::create_dir_all(home.join("conf")).unwrap();
        std::fs::write(home.join("conf/deployment.toml"), "[server]\noffset = 20\n").unwrap();
        assert_eq!(Ports::coming(&project, &home), Ports::with(20));
        std::fs::write(project.join("deployment/deployment.toml"), "[server]\noffset = 30\n").unwrap();
        assert_eq!(Ports::coming(&project, &home), Ports::with(30));
        assert_eq!(Ports::running(&home), Ports::with(20));
    }
}
