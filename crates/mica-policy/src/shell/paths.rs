//! Judges paths: where they lead, and whether what lies there may be read or written by a command.

use super::Finding;
use super::facts::{ShellFacts, is_below, tidied};
use super::spec::Role;
use super::state::Dirs;
use super::word::{Arg, Piece};
use crate::places::{Places, fits};

/// The rule that asks about files of the project for no other reason than that they are written.
pub(super) const WRITE_PROJECT: &str = "write-project-files";

/// What a path is judged with.
pub(super) struct Ground<'a> {
    pub(super) facts: &'a ShellFacts<'a>,
    pub(super) places: &'a Places,
    pub(super) dirs: &'a Dirs,
}

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Sign {
    One(char),
    /// Any one of these; all of them when it is empty.
    Any(Vec<char>),
    Many,
}

impl Ground<'_> {
    /// What speaks against using a path in this way.
    pub(super) fn judge(&self, arg: &Arg, role: Role, recursive: bool, findings: &mut Vec<Finding>) {
        if matches!(role, Role::Text | Role::Host) {
            return;
        }
        let shown = arg.shown();
        if let Some(text) = arg.literal()
            && text == "-"
            && matches!(role, Role::Read | Role::Write)
        {
            return;
        }
        if self.network_device(&shown, findings) {
            return;
        }
        // Names of secrets count wherever they stand, also behind something unknown.
        if self.names_secret(arg, &shown, role, findings) {
            return;
        }
        let relative = !arg.known_start().starts_with('/');
        if arg.is_open() {
            self.dynamic(arg, role, recursive, &shown, findings);
            return;
        }
        if relative && self.dirs.unknown {
            let reason = format!("the folder that {shown} is in is known only when it runs");
            findings.push(dynamic_finding(role, recursive, reason));
        }
        let text: String = arg.pieces.iter().map(piece_text).collect();
        let mut absolute: Vec<String> = Vec::new();
        if relative {
            absolute.extend(self.dirs.known.iter().map(|dir| format!("{dir}/{text}")));
        } else {
            absolute.push(text);
        }
        for path in absolute {
            self.known(&path, arg, role, recursive, &shown, findings);
        }
    }

    fn network_device(&self, shown: &str, findings: &mut Vec<Finding>) -> bool {
        let network = shown.starts_with("/dev/tcp/") || shown.starts_with("/dev/udp/");
        if network {
            let reason = format!("{shown} is a connection to another machine");
            findings.push(Finding::ask("network-device", reason).lasting());
        }
        network
    }

    /// A path that begins or goes on with something unknown.
    fn dynamic(&self, arg: &Arg, role: Role, recursive: bool, shown: &str, findings: &mut Vec<Finding>) {
        if role == Role::List {
            return;
        }
        let start = arg.known_start();
        if start.starts_with('/') && matches!(role, Role::Write | Role::Delete) {
            // Unless it climbs up again, it stays below what is known of it.
            let folder = tidied(start.rsplit_once('/').map_or("", |(folder, _)| folder));
            if !self.may_write(&folder) {
                findings.push(Finding::blocked(
                    "floor.write-outside",
                    format!("{shown} is outside the project and the folder for temporary files"),
                ));
                return;
            }
        }
        let reason = format!("what {shown} stands for is known only when it runs");
        let unbounded = recursive && start.is_empty();
        findings.push(dynamic_finding(role, unbounded, reason));
    }

    fn known(
        &self,
        path: &str,
        arg: &Arg,
        role: Role,
        recursive: bool,
        shown: &str,
        findings: &mut Vec<Finding>,
    ) {
        let tidy = tidied(path);
        // Patterns are followed as far as their names are known.
        let is_pattern = arg.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_)));
        let certain = if is_pattern { fixed_folder(path) } else { tidy.clone() };
        // What these lead to is another thing in each process.
        if self.places.harmless_devices.iter().any(|device| is_below(&tidy, device)) && role != Role::Delete {
            return;
        }
        let real = self.facts.disk.real(&certain).map(|real| tidied(&real));
        let real = real.filter(|real| *real != certain);
        let places: Vec<&str> = [Some(tidy.as_str()), real.as_deref()].into_iter().flatten().collect();
        if let Some(real) = real.as_deref().filter(|real| self.is_secret(real)) {
            findings.push(secret(&format!("{shown} leads to {real}, which")));
            return;
        }
        match role {
            Role::Read | Role::List => {
                for place in places {
                    self.read(place, role, shown, findings);
                }
                if (recursive || arg.tree) && role == Role::Read {
                    self.read_tree(&certain, shown, findings);
                }
            }
            Role::Write | Role::Delete => {
                let relative = !arg.known_start().starts_with('/');
                for place in &places {
                    self.write(place, role, relative, shown, findings);
                }
                if role == Role::Delete && (recursive || arg.tree) {
                    self.delete_tree(&tidy, is_pattern, shown, findings);
                }
            }
            Role::Text | Role::Host => {}
        }
    }

    fn in_project(&self, path: &str) -> bool {
        is_below(path, self.facts.root)
    }

    fn in_temp(&self, path: &str) -> bool {
        self.facts.temp.iter().any(|temp| is_below(path, temp) && path != *temp)
    }

    fn may_write(&self, folder: &str) -> bool {
        self.in_project(folder) || self.facts.temp.iter().any(|temp| is_below(folder, temp))
    }

    fn read(&self, path: &str, role: Role, shown: &str, findings: &mut Vec<Finding>) {
        if self.in_project(path)
            || self.in_temp(path)
            || self.places.harmless_devices.iter().any(|d| is_below(path, d))
        {
            return;
        }
        if is_below(path, "/dev") && path != "/dev"
            || self.places.secret_paths.iter().any(|pattern| fits(pattern, path))
        {
            let reason = format!("{shown} is a device, or shows what other programs keep in memory");
            findings.push(Finding::blocked("floor.device", reason));
            return;
        }
        if role == Role::List || self.places.system.iter().any(|folder| is_below(path, folder)) {
            return;
        }
        findings.push(Finding::ask("read-outside", format!("{shown} is outside the project")).looking());
    }

    fn read_tree(&self, folder: &str, shown: &str, findings: &mut Vec<Finding>) {
        if self.facts.disk.secrets_below(folder) == Some(false) {
            return;
        }
        if !self.in_project(folder)
            && !self.in_temp(folder)
            && self.places.system.iter().any(|system| is_below(folder, system))
        {
            return;
        }
        let reason = format!(
            "it reads everything below {shown}, where files with secrets may be; name the files, or leave them out"
        );
        findings.push(Finding::ask("secrets-below", reason).looking());
    }

    fn write(&self, path: &str, role: Role, relative: bool, shown: &str, findings: &mut Vec<Finding>) {
        // In a project that is itself a temporary folder, `../x` is still outside, and `/tmp/x` is meant as it is said.
        let strays = relative && self.facts.temp.iter().any(|temp| is_below(self.facts.root, temp));
        if self.places.harmless_devices.iter().any(|device| is_below(path, device)) && role == Role::Write {
            return;
        }
        if self.places.kernel.iter().any(|kernel| is_below(path, kernel)) || is_below(path, "/boot") {
            findings.push(Finding::blocked("floor.device", format!("{shown} belongs to the system")));
        } else if self.places.is_guarded(path) {
            let reason =
                format!("{shown} decides what tools and agents do later, and no command may write it");
            findings.push(Finding::blocked("floor.guarded", reason));
        } else if path == self.facts.root && role == Role::Delete {
            findings
                .push(Finding::blocked("floor.delete-project", "it deletes the project itself".to_owned()));
        } else if !self.in_project(path)
            && !strays
            && (self.in_temp(path) || (role == Role::Write && self.facts.temp.contains(&path)))
        {
            findings.push(Finding::safe("write-temp", format!("{shown} is a temporary file")));
        } else if !self.in_project(path) {
            let reason = format!("{shown} is outside the project and the folder for temporary files");
            findings.push(Finding::blocked("floor.write-outside", reason));
        } else if self.places.is_watched(path) {
            findings.push(
                Finding::ask("watched-file", format!("{shown} tells tools or agents what to do")).lasting(),
            );
        } else if role == Role::Delete {
            findings.push(
                Finding::ask("delete-project-files", format!("it deletes or moves {shown}")).destructive(),
            );
        } else {
            findings.push(Finding::ask(WRITE_PROJECT, format!("it writes {shown}")));
        }
    }

    fn delete_tree(&self, path: &str, is_pattern: bool, shown: &str, findings: &mut Vec<Finding>) {
        let parent = tidied(path.rsplit_once('/').map_or("/", |(parent, _)| parent));
        let everything = is_pattern
            && path.rsplit('/').next().is_some_and(|name| name.chars().all(|sign| "*?.".contains(sign)));
        if is_below(self.facts.root, path) || (everything && is_below(self.facts.root, &parent)) {
            findings.push(Finding::blocked("floor.delete-project", format!("{shown} is the whole project")));
        } else if everything && self.facts.temp.iter().any(|temp| is_below(temp, &parent)) {
            findings.push(
                Finding::ask("delete-temp", format!("{shown} holds files of other programs")).destructive(),
            );
        }
    }

    fn is_secret(&self, path: &str) -> bool {
        self.places.is_secret(path)
    }

    /// Whether the words of a path name a secret, or a pattern in it could.
    fn names_secret(&self, arg: &Arg, shown: &str, role: Role, findings: &mut Vec<Finding>) -> bool {
        if let Some(text) = arg.literal() {
            let found = self.is_secret(&tidied(text)) || self.is_secret(text.trim_end_matches('/'));
            if found {
                findings.push(secret(shown));
            }
            return found;
        }
        let mut parts: Vec<(Vec<Sign>, bool)> = vec![(Vec::new(), true)];
        for piece in &arg.pieces {
            match piece {
                Piece::Text(text) => {
                    for (index, text) in text.split('/').enumerate() {
                        if index > 0 {
                            parts.push((Vec::new(), true));
                        }
                        if let Some((signs, _)) = parts.last_mut() {
                            // In lower case, as the names of the table are.
                            signs.extend(text.chars().flat_map(char::to_lowercase).map(Sign::One));
                        }
                    }
                }
                Piece::Glob(glob) => {
                    if let Some((signs, _)) = parts.last_mut() {
                        signs.push(sign_of(glob));
                    }
                }
                Piece::Unknown { .. } => {
                    if let Some((_, known)) = parts.last_mut() {
                        *known = false;
                    }
                }
            }
        }
        let count = parts.len();
        for (index, (signs, known)) in parts.iter().enumerate() {
            if !known || signs.is_empty() {
                continue;
            }
            let literal = signs.iter().filter(|sign| matches!(sign, Sign::One(_) | Sign::Any(_))).count();
            let plain: Option<String> =
                signs.iter().map(|sign| if let Sign::One(one) = sign { Some(*one) } else { None }).collect();
            let folders = self.places.secret_folders.iter();
            let names = self.places.secret_names.iter().filter(|_| index + 1 == count);
            let could = match &plain {
                Some(name) => {
                    self.places.is_secret_folder(name)
                        || (index + 1 == count && self.places.is_secret_name(name))
                }
                None => folders.chain(names).any(|secret| could_be(signs, secret)),
            };
            if !could {
                continue;
            }
            let evident = plain.is_some() || literal >= 2 || signs.first() == Some(&Sign::One('.'));
            if evident {
                findings.push(secret(shown));
                return true;
            }
            let folder = fixed_folder(&format!("{}/{shown}", self.dirs.only().unwrap_or("/nowhere")));
            let folder = if shown.starts_with('/') { fixed_folder(shown) } else { folder };
            if role == Role::Read
                && index + 1 == count
                && self.facts.disk.secrets_below(&folder) != Some(false)
            {
                findings.push(
                    Finding::ask("secret-pattern", format!("{shown} may fit a file with secrets")).looking(),
                );
            }
        }
        false
    }
}

fn piece_text(piece: &Piece) -> &str {
    match piece {
        Piece::Text(text) | Piece::Glob(text) => text,
        Piece::Unknown { .. } => "0",
    }
}

fn dynamic_finding(role: Role, unbounded: bool, reason: String) -> Finding {
    match role {
        Role::Delete if unbounded => Finding::blocked(
            "floor.delete-unknown",
            format!("it deletes folders, and {reason}; write the path out"),
        ),
        Role::Delete => Finding::ask("dynamic-path", reason).destructive(),
        Role::Write => Finding::ask("dynamic-path", reason).lasting(),
        _ => Finding::ask("dynamic-path", reason).looking(),
    }
}

fn secret(shown: &str) -> Finding {
    Finding::blocked("floor.secret", format!("{shown} is where secrets are kept"))
}

/// The folder before the first name that is a pattern.
fn fixed_folder(path: &str) -> String {
    let fixed: Vec<&str> = path.split('/').take_while(|part| !part.contains(['*', '?', '['])).collect();
    tidied(&fixed.join("/"))
}

fn sign_of(glob: &str) -> Sign {
    match glob {
        "*" => Sign::Many,
        "?" => Sign::Any(Vec::new()),
        class => {
            let inside = class.trim_start_matches('[').trim_end_matches(']');
            if inside.contains(['!', '^', '-', ':', '[']) {
                Sign::Any(Vec::new())
            } else {
                Sign::Any(inside.chars().flat_map(char::to_lowercase).collect())
            }
        }
    }
}

/// Whether a pattern is meant for, or may well fit, the name of a secret. Names with an ending that everybody uses
/// (`secrets.json`) count only as they are written: otherwise no `*.json` could be read.
fn could_be(signs: &[Sign], secret: &str) -> bool {
    if let Some(ending) = secret.strip_prefix('*') {
        let tail: String = signs
            .iter()
            .rev()
            .map_while(|sign| if let Sign::One(one) = sign { Some(*one) } else { None })
            .collect();
        return tail.chars().rev().collect::<String>().ends_with(ending);
    }
    let ordinary = [".json", ".yml", ".yaml", ".xml"].iter().any(|ending| secret.ends_with(ending));
    !ordinary && meets(signs, secret)
}

/// Whether some name fits both a pattern of the command line and the name of a secret.
fn meets(signs: &[Sign], secret: &str) -> bool {
    // A wildcard at the start fits no dot.
    if secret.starts_with('.')
        && !matches!(signs.first(), Some(Sign::One('.')))
        && !matches!(signs.first(), Some(Sign::Any(set)) if set.contains(&'.'))
    {
        return false;
    }
    let other: Vec<Sign> =
        secret.chars().map(|sign| if sign == '*' { Sign::Many } else { Sign::One(sign) }).collect();
    common(signs, &other)
}

/// Whether two patterns have a text in common. Time is the product of their lengths.
fn common(a: &[Sign], b: &[Sign]) -> bool {
    let width = b.len() + 1;
    let mut reached = vec![false; (a.len() + 1) * width];
    if let Some(start) = reached.first_mut() {
        *start = true;
    }
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            if !reached.get(i * width + j).copied().unwrap_or(false) {
                continue;
            }
            let mut reach = |i: usize, j: usize| {
                if let Some(cell) = reached.get_mut(i * width + j) {
                    *cell = true;
                }
            };
            let (x, y) = (a.get(i), b.get(j));
            if x == Some(&Sign::Many) {
                reach(i + 1, j);
                if y.is_some() {
                    reach(i, j + 1);
                }
            }
            if y == Some(&Sign::Many) {
                reach(i, j + 1);
                if x.is_some() {
                    reach(i + 1, j);
                }
            }
            let together = match (x, y) {
                (Some(Sign::One(x)), Some(Sign::One(y))) => x == y,
                (Some(Sign::Any(set)), Some(Sign::One(one)))
                | (Some(Sign::One(one)), Some(Sign::Any(set))) => set.is_empty() || set.contains(one),
                (Some(Sign::Any(_)), Some(Sign::Any(_))) => true,
                _ => false,
            };
            if together {
                reach(i + 1, j + 1);
            }
        }
    }
    reached.last().copied().unwrap_or(false)
}
