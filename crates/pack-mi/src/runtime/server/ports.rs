//! Ports of the server. Its own tables count from an offset of 10, which is what a fresh server has.

use std::path::Path;

/// The offset that the usual ports have in them.
const USUAL: i32 = 10;

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
        let port = |base: i32| u16::try_from(base + offset - USUAL).unwrap_or(0);
        Self { http: port(8290), https: port(8253), readiness: port(9201), management: port(9164) }
    }

    /// Those that the settings of a server say: the project's, which are put over the server's own, or those.
    pub(super) fn of(project: &Path, home: &Path) -> Self {
        let own = project.join("deployment/deployment.toml");
        let theirs = home.join("conf/deployment.toml");
        let text = std::fs::read_to_string(own).or_else(|_| std::fs::read_to_string(theirs));
        Self::with(text.ok().and_then(|text| offset(&text)).unwrap_or(USUAL))
    }
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
}
