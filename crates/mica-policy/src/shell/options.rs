//! Reads the arguments of a command by its table: which are options, what their values are, what is left.

use super::spec::{Effect, Options, Role, Spec};
use super::word::Arg;
use crate::places::fits;

/// What the arguments of a command say.
#[derive(Debug, Default)]
pub(super) struct Given {
    /// Options as they stand in the table, with values where they have one.
    pub(super) options: Vec<(String, Option<Arg>)>,
    pub(super) operands: Vec<Arg>,
    /// Files named by options.
    pub(super) files: Vec<(Role, Arg)>,
    /// What options make of the effect, and why.
    pub(super) effects: Vec<(Effect, String)>,
    pub(super) tree: bool,
    pub(super) look: bool,
    /// An option that the table does not have.
    pub(super) strange: Option<String>,
    /// Words that may turn out to be options.
    pub(super) open: bool,
}

impl Given {
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(&name.as_str()))
    }

    pub(super) fn value(&self, names: &[&str]) -> Option<&Arg> {
        self.options
            .iter()
            .find(|(name, _)| names.contains(&name.as_str()))
            .and_then(|(_, value)| value.as_ref())
    }
}

/// Reads arguments. Options that no table has count as flags.
pub(super) fn read(spec: &Spec, args: &[Arg]) -> Given {
    read_with(&spec.options, spec.posix || !spec.sub.is_empty(), args)
}

pub(super) fn read_with(options: &Options, posix: bool, args: &[Arg]) -> Given {
    let mut given = Given::default();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let start = arg.known_start();
        if (arg.is_open() && start.is_empty()) || arg.splits {
            // It could be anything, also an option.
            given.open = true;
        }
        if !start.starts_with('-') || start == "-" {
            given.operands.push(arg.clone());
            if posix {
                given.operands.extend(rest.cloned());
                break;
            }
            continue;
        }
        if arg.literal() == Some("--") {
            given.operands.extend(rest.cloned());
            break;
        }
        if arg.is_open() && !start.contains('=') && start.len() < 3 {
            given.open = true;
        }
        let name = start.split('=').next().unwrap_or(start);
        let inline = (name.len() < start.len()).then(|| arg.after(name.len() + 1));
        if let Some((effect, because)) = options.pattern(name) {
            given.effects.push((effect, because.clone()));
            given.options.push((name.to_owned(), inline));
            continue;
        }
        let long = name.starts_with("--") || options.knows(name) && name.len() > 2;
        if long {
            let meant = options.meant(name);
            let takes = meant.iter().any(|name| options.takes_value(name));
            let value = match inline {
                None if takes => rest.next().cloned(),
                inline => inline,
            };
            if meant.is_empty() {
                given.strange.get_or_insert_with(|| name.to_owned());
                given.options.push((name.to_owned(), value.clone()));
            }
            for name in meant {
                options.note(&name, value.clone(), &mut given);
            }
            continue;
        }
        bundle(options, arg, &mut rest, &mut given);
    }
    given
}

/// `-abc`, `-ofile`, `-o file`.
fn bundle<'a>(options: &Options, arg: &Arg, rest: &mut impl Iterator<Item = &'a Arg>, given: &mut Given) {
    let start = arg.known_start();
    let mut at = 1;
    while let Some(letter) = start.get(at..).and_then(|behind| behind.chars().next()) {
        at += letter.len_utf8();
        let name = format!("-{letter}");
        if options.takes_value(&name) {
            let attached = arg.after(at);
            let value = if attached.pieces.is_empty() { rest.next().cloned() } else { Some(attached) };
            options.note(&name, value, given);
            return;
        }
        if !options.knows(&name) {
            given.strange.get_or_insert_with(|| start.to_owned());
        }
        options.note(&name, None, given);
    }
    if arg.pieces.len() > 1 {
        given.open = true;
    }
}

impl Options {
    fn lists(&self) -> [&Vec<String>; 6] {
        [&self.value, &self.flag, &self.read, &self.write, &self.tree, &self.look]
    }

    fn maps(&self) -> [(Effect, &std::collections::BTreeMap<String, String>); 5] {
        [
            (Effect::Change, &self.change),
            (Effect::Destroy, &self.destroy),
            (Effect::Network, &self.network),
            (Effect::Run, &self.run),
            (Effect::Forbidden, &self.block),
        ]
    }

    fn knows(&self, name: &str) -> bool {
        self.lists().iter().any(|list| list.iter().any(|known| known == name))
            || self.maps().iter().any(|(_, map)| map.contains_key(name))
    }

    /// What a name means by a pattern of the table.
    fn pattern(&self, name: &str) -> Option<(Effect, &String)> {
        // What is written out counts more.
        if self.knows(name) {
            return None;
        }
        self.maps().into_iter().find_map(|(effect, map)| {
            let (_, because) = map.iter().find(|(known, _)| known.contains('*') && fits(known, name))?;
            Some((effect, because))
        })
    }

    /// The options a name may stand for: itself, or all that begin with it.
    fn meant(&self, name: &str) -> Vec<String> {
        if self.knows(name) {
            return vec![name.to_owned()];
        }
        if name.len() < 4 {
            return Vec::new();
        }
        let mut all: Vec<&String> = self.lists().into_iter().flatten().collect();
        all.extend(self.maps().into_iter().flat_map(|(_, map)| map.keys()));
        all.into_iter().filter(|known| known.starts_with(name)).cloned().collect()
    }

    fn takes_value(&self, name: &str) -> bool {
        [&self.value, &self.read, &self.write].iter().any(|list| list.iter().any(|known| known == name))
    }

    fn note(&self, name: &str, value: Option<Arg>, given: &mut Given) {
        let has = |list: &[String]| list.iter().any(|known| known == name);
        given.tree |= has(&self.tree);
        given.look |= has(&self.look);
        if let Some(value) = &value {
            if has(&self.read) {
                given.files.push((Role::Read, value.clone()));
            }
            if has(&self.write) {
                given.files.push((Role::Write, value.clone()));
            }
        } else if has(&self.write) {
            given.open = true;
        }
        for (effect, map) in self.maps() {
            if let Some(because) = map.get(name) {
                given.effects.push((effect, because.clone()));
            }
        }
        given.options.push((name.to_owned(), value));
    }
}
