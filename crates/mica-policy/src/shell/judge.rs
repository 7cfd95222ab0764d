//! From a command line to a verdict.

use std::collections::BTreeSet;

use super::facts::{ShellFacts, is_below, tidied};
use super::inside::stays;
use super::options::{Given, read, read_with};
use super::paths::{Ground, WRITE_PROJECT};
use super::spec::{Effect, Role, Spec};
use super::split::{Access, Command, Split, split_in};
use super::state::{Dirs, State};
use super::word::{Arg, Piece};
use super::{Class, Effects, Finding, Judgement, PartJudgement, Prefix, ShellRules};
use crate::Mode;
use crate::places::fits;

/// How deep commands may be inside of commands: `env nice timeout 5 …`.
const MAX_WRAPPERS: usize = 12;

/// Judges a command line.
///
/// ```
/// use mica_policy::Mode;
/// use mica_policy::shell::{Class, ShellFacts, ShellRules, judge};
///
/// let rules = ShellRules::builtin()?;
/// let facts = ShellFacts::of_project("/home/user/project").with_home("/home/user");
/// assert_eq!(judge("git log --oneline | head -5", &facts, &rules, Mode::Edit).class, Class::Safe);
/// assert_eq!(judge("mvn test", &facts, &rules, Mode::Edit).class, Class::Ask);
/// assert_eq!(judge("cd .. && rm -rf x", &facts, &rules, Mode::Edit).rule, "floor.write-outside");
/// # Ok::<(), mica_policy::shell::BadTables>(())
/// ```
pub fn judge(command: &str, facts: &ShellFacts<'_>, rules: &ShellRules, mode: Mode) -> Judgement {
    let split = super::split(command, facts);
    let mut effects = Effects::default();
    let judging = Judging { facts, rules, mode };
    let mut parts = Vec::new();
    judging.all(&split, 0, &mut parts, &mut effects);
    if let Some(finding) = deceptive(command) {
        parts.push(judging.part(command.chars().take(80).collect(), &[finding], None, String::new()));
    }
    if split.commands().is_empty() && split.is_plain() {
        let reason = "there is no command in it".to_owned();
        let finding = Finding::blocked("empty", reason);
        parts.push(judging.part(String::new(), &[finding], None, String::new()));
    }
    let decides = parts.iter().rev().max_by_key(|part| part.class);
    let (class, rule, reason) = match decides {
        Some(part) => (part.class, part.rule.clone(), part.reason.clone()),
        None => (Class::Ask, "opaque".to_owned(), "it cannot be read".to_owned()),
    };
    let asking: Vec<&PartJudgement> = parts.iter().filter(|part| part.class == Class::Ask).collect();
    let prefixes: BTreeSet<Option<&Prefix>> = asking.iter().map(|part| part.remember.as_ref()).collect();
    let remember = match (class, prefixes.len(), prefixes.first()) {
        (Class::Ask, 1, Some(Some(prefix))) => Some((*prefix).clone()),
        _ => None,
    };
    Judgement { class, reason, rule, parts, split, effects, remember }
}

/// Whether writing a file asks for no other reason than that it is a file of the project.
pub(super) fn is_ordinary_file(path: &str, facts: &ShellFacts<'_>, rules: &ShellRules) -> bool {
    let dirs = Dirs::one(facts.root);
    let mut findings = Vec::new();
    let ground = Ground { facts, places: &rules.tables.places, dirs: &dirs };
    ground.judge(&Arg::known(path), Role::Write, false, &mut findings);
    !findings.is_empty() && findings.iter().all(|finding| finding.rule == WRITE_PROJECT)
}

/// Signs that show something else than what is run.
fn deceptive(command: &str) -> Option<Finding> {
    if command.is_ascii() && !command.bytes().any(|byte| byte < 32 && !b"\t\n".contains(&byte) || byte == 127)
    {
        return None;
    }
    let sign = command.chars().find(|sign| {
        matches!(*sign,
            '\u{a0}' | '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{1680}' | '\u{180e}'
            | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{2800}'
            | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
            || (sign.is_control() && !matches!(sign, '\t' | '\n'))
    })?;
    let reason =
        format!("it has the sign U+{:04X} in it, which does not look like what it is", u32::from(sign));
    Some(Finding::ask("deceptive-text", reason).lasting())
}

/// What one judgement goes by.
pub(super) struct Judging<'a> {
    pub(super) facts: &'a ShellFacts<'a>,
    pub(super) rules: &'a ShellRules,
    mode: Mode,
}

/// Where a command is being judged.
#[derive(Clone)]
pub(super) struct Around {
    pub(super) dirs: Dirs,
    pub(super) fed: bool,
    pub(super) input: Option<Arg>,
    pub(super) depth: usize,
}

/// What is found out about one command.
#[derive(Default)]
pub(super) struct Found {
    pub(super) findings: Vec<Finding>,
    pub(super) effects: Effects,
    /// The rule that knows the command.
    pub(super) rule: String,
    pub(super) prefix: Option<Vec<String>>,
    /// Commands of scripts inside of it.
    pub(super) inner: Vec<PartJudgement>,
}

impl Found {
    pub(super) fn add(&mut self, finding: Finding) {
        self.findings.push(finding);
    }
}

impl Judging<'_> {
    pub(super) fn all(
        &self,
        split: &Split,
        depth: usize,
        parts: &mut Vec<PartJudgement>,
        effects: &mut Effects,
    ) {
        for command in split.commands() {
            parts.extend(self.command(command, depth, effects));
        }
        if let Split::Opaque { reason, .. } = split {
            let finding = Finding::ask("opaque", reason.explain().to_owned()).lasting();
            parts.push(self.part(String::new(), &[finding], None, String::new()));
        }
    }

    fn command(&self, command: &Command, depth: usize, effects: &mut Effects) -> Vec<PartJudgement> {
        let mut found = Found::default();
        if command.bomb {
            found.add(Finding::blocked(
                "floor.fork-bomb",
                "it starts itself again and again without end".to_owned(),
            ));
        }
        self.variables_of(&command.assigns, &mut found);
        let around =
            Around { dirs: command.dirs.clone(), fed: command.fed, input: command.input.clone(), depth };
        for (access, file) in &command.redirects {
            let role = if *access == Access::Read { Role::Read } else { Role::Write };
            let from = found.findings.len();
            self.path(file, role, false, &around, &mut found);
            // What a redirection writes is no matter of the command's name.
            found.findings.iter_mut().skip(from).for_each(|finding| finding.coverable = false);
        }
        self.secret_variables(&command.argv, &mut found);
        if command.function {
            "function".clone_into(&mut found.rule);
        } else if command.argv.is_empty() {
            "assignment".clone_into(&mut found.rule);
        } else {
            self.argv(&command.argv, &around, &mut found);
            found.prefix = found.prefix.filter(|_| stays(&command.argv, &around.dirs, self.facts));
        }
        let shown: Vec<String> = command.argv.iter().map(Arg::shown).collect();
        let mut all = std::mem::take(&mut found.inner);
        effects.reads.append(&mut found.effects.reads);
        effects.writes.append(&mut found.effects.writes);
        effects.hosts.append(&mut found.effects.hosts);
        effects.network |= found.effects.network;
        all.push(self.part(shown.join(" "), &found.findings, found.prefix, found.rule));
        all
    }

    /// Makes one judgement of what was found.
    pub(super) fn part(
        &self,
        command: String,
        findings: &[Finding],
        prefix: Option<Vec<String>>,
        rule: String,
    ) -> PartJudgement {
        let destructive = findings.iter().any(|finding| finding.destructive);
        let strictest = findings.iter().map(|finding| finding.class).max().unwrap_or(Class::Safe);
        let prefix = prefix.map(|words| Prefix { words });
        let coverable = strictest == Class::Ask
            && findings.iter().filter(|finding| finding.class == Class::Ask).all(|finding| finding.coverable);
        let mut judged = match findings.iter().find(|finding| finding.class == strictest) {
            Some(finding) if strictest > Class::Safe => PartJudgement {
                command,
                class: strictest,
                rule: finding.rule.clone(),
                reason: sentence(&finding.reason),
                destructive,
                remember: prefix.filter(|_| coverable),
            },
            _ => PartJudgement {
                command,
                class: Class::Safe,
                rule: if rule.is_empty() {
                    findings.first().map_or_else(|| "safe".to_owned(), |finding| finding.rule.clone())
                } else {
                    rule
                },
                reason: findings
                    .first()
                    .map_or_else(|| "It only looks.".to_owned(), |finding| sentence(&finding.reason)),
                destructive,
                remember: None,
            },
        };
        if let Some(prefix) = &judged.remember {
            let covers = |remembered: &&super::Remembered| prefix.words.starts_with(&remembered.prefix.words);
            if let Some(remembered) = self.rules.remembered.iter().find(covers) {
                judged.class = Class::Safe;
                judged.rule = format!("remembered {}", remembered.prefix);
                judged.reason =
                    format!("Commands that begin with \"{}\" were approved before.", remembered.prefix);
                judged.remember = None;
            }
        }
        if self.mode != Mode::Edit {
            let looks = findings.iter().all(|finding| finding.class == Class::Blocked || finding.looking);
            if judged.class != Class::Blocked && !looks {
                judged.class = Class::Blocked;
                judged.reason = format!(
                    "Not in {} mode, where commands only look. In edit mode: {}",
                    self.mode, judged.reason
                );
                judged.rule = format!("mode.{}", self.mode);
                judged.remember = None;
            }
        }
        judged
    }

    pub(super) fn variables_of(&self, assigns: &[(String, Arg)], found: &mut Found) {
        for (name, value) in assigns {
            let table = self
                .rules
                .tables
                .variables
                .iter()
                .find(|table| table.names.iter().any(|known| fits(known, name)));
            let Some(table) = table else { continue };
            if value.literal().is_some_and(|value| table.harmless.iter().any(|known| known == value)) {
                continue;
            }
            found
                .add(Finding::ask("environment", format!("the variable {name} {}", table.because)).lasting());
        }
    }

    /// Variables that hold secrets by their names, and are not set here.
    fn secret_variables(&self, argv: &[Arg], found: &mut Found) {
        let printed = argv.first().and_then(Arg::literal) == Some("printenv");
        for piece in argv.iter().flat_map(|arg| &arg.pieces) {
            let name = match piece {
                Piece::Unknown { name: Some(name), number: false } => name,
                Piece::Text(name) if printed => name,
                _ => continue,
            };
            let upper = name.to_ascii_uppercase();
            if self.rules.tables.places.secret_variables.iter().any(|known| fits(known, &upper)) {
                found.add(
                    Finding::ask(
                        "secret-variable",
                        format!("by its name, the variable {name} holds a secret"),
                    )
                    .looking(),
                );
            }
        }
    }

    pub(super) fn path(&self, arg: &Arg, role: Role, recursive: bool, around: &Around, found: &mut Found) {
        let ground = Ground { facts: self.facts, places: &self.rules.tables.places, dirs: &around.dirs };
        ground.judge(arg, role, recursive, &mut found.findings);
        match role {
            Role::Read => found.effects.reads.push(arg.shown()),
            Role::Write | Role::Delete => found.effects.writes.push(arg.shown()),
            Role::Host => {
                found.effects.network = true;
                if let Some(host) = arg.literal().and_then(host_of)
                    && !found.effects.hosts.contains(&host)
                {
                    found.effects.hosts.push(host);
                }
            }
            Role::Text | Role::List => {}
        }
    }

    /// Judges a command and its arguments.
    pub(super) fn argv(&self, argv: &[Arg], around: &Around, found: &mut Found) {
        let Some(first) = argv.first() else { return };
        let args = argv.get(1..).unwrap_or(&[]);
        if around.depth > MAX_WRAPPERS {
            found.add(
                Finding::ask("opaque", "commands in it run commands, too deep to look through".to_owned())
                    .lasting(),
            );
            return;
        }
        let Some(name) = first.literal() else {
            found.add(
                Finding::ask("opaque", "the command it runs is known only when it runs".to_owned()).lasting(),
            );
            return;
        };
        let base = name.rsplit('/').next().unwrap_or(name);
        let tables = &self.rules.tables;
        let spec = if name.contains('/') {
            let absolute = if name.starts_with('/') { tidied(name) } else { String::new() };
            let folder = absolute.rsplit_once('/').map_or("", |(folder, _)| folder);
            let trusted = tables.places.programs.iter().any(|known| known == folder);
            let real = absolute.rsplit('/').next().unwrap_or(base);
            match tables.of(name) {
                Some(spec) => Some(spec),
                None if trusted => tables.of(real),
                // A program of any folder with a name that is blocked is blocked as well.
                None => {
                    let spec = tables
                        .of(base)
                        .filter(|spec| matches!(spec.effect, Effect::Forbidden | Effect::Interactive));
                    if spec.is_none() {
                        "program-file".clone_into(&mut found.rule);
                        let reason = format!("it runs the program {name}, and what that does is not known");
                        found.add(Finding::ask("program-file", reason).lasting());
                        // Paths it is given are still judged for secrets.
                        self.unknown_operands(args, around, found);
                        return;
                    }
                    spec
                }
            }
        } else {
            tables.of(name)
        };
        let Some(spec) = spec else {
            let reason = if name.is_empty() {
                "it has no name".to_owned()
            } else {
                format!("nothing is known about the command {name}")
            };
            found.add(Finding::ask("unknown-command", reason).lasting());
            self.unknown_operands(args, around, found);
            return;
        };
        let id = if tables.of(name).is_some() { name } else { base };
        self.by_spec(spec, id, args, around, found);
    }

    /// Operands of commands that nobody knows: words that look like paths must not be secrets.
    fn unknown_operands(&self, args: &[Arg], around: &Around, found: &mut Found) {
        for arg in args {
            let start = arg.known_start();
            let value = start.find('=').filter(|_| start.starts_with('-')).map(|at| arg.after(at + 1));
            self.path(&value.unwrap_or_else(|| arg.clone()), Role::List, false, around, found);
        }
    }

    /// Judges by a table. `id` is the command with its sub-commands so far.
    pub(super) fn by_spec(&self, spec: &Spec, id: &str, args: &[Arg], around: &Around, found: &mut Found) {
        id.clone_into(&mut found.rule);
        if let Some(special) = &spec.special
            && self.special(special, spec, id, args, around, found)
        {
            return;
        }
        let given = read(spec, args);
        self.given(spec, id, &given, around, found);
    }

    /// Judges by a table and arguments that were read.
    pub(super) fn given(&self, spec: &Spec, id: &str, given: &Given, around: &Around, found: &mut Found) {
        id.clone_into(&mut found.rule);
        self.of_options(spec, id, given, found);
        for (role, file) in &given.files {
            self.path(file, *role, false, around, found);
        }
        if !spec.sub.is_empty()
            && !given.look
            && let Some(sub) = given.operands.first()
        {
            let name = sub.literal();
            let next = name
                .and_then(|name| spec.sub.iter().find(|spec| spec.names.iter().any(|known| known == name)));
            let rest = given.operands.get(1..).unwrap_or(&[]);
            if let (Some(next), Some(name)) = (next, name) {
                self.by_spec(next, &format!("{id} {name}"), rest, around, found);
                return;
            }
            if spec.effect == Effect::Unknown {
                let what = sub.shown();
                let reason = format!("nothing is known about {id} {what}");
                found.add(Finding::ask("unknown-command", reason).lasting());
                self.unknown_operands(rest, around, found);
                return;
            }
        }
        // Behind a word that is no sub-command, there may be options of the command itself.
        let again;
        let given = if spec.sub.is_empty() || given.operands.is_empty() {
            given
        } else {
            again = Given { look: false, ..read_with(&spec.options, false, &given.operands) };
            self.of_options(spec, id, &again, found);
            // `mvn test deploy`: what a later word says is done as well.
            for word in again.operands.iter().skip(1).filter_map(Arg::literal) {
                let named = |spec: &&Spec| spec.names.iter().any(|known| known == word);
                if let Some(sub) = spec.sub.iter().find(named) {
                    self.effect(sub.effect, &format!("{id} {word}"), &sub.because, &sub.instead, found);
                    found.findings.iter_mut().for_each(|finding| finding.coverable = false);
                }
            }
            for (role, file) in &again.files {
                self.path(file, *role, false, around, found);
            }
            &again
        };
        if given.open && !spec.any && !given.look {
            let reason = format!("{id} is given words that are known only when it runs");
            let finding = Finding::ask("dynamic-argument", reason);
            found.add(if spec.effect == Effect::Look { finding.looking() } else { finding.lasting() });
        }
        let mut effect = spec.effect;
        if let Some(with) = spec.with_operands.filter(|_| !given.operands.is_empty()) {
            effect = with;
        }
        if given.look {
            effect = Effect::Look;
        }
        self.effect(effect, id, &spec.because, &spec.instead, found);
        self.operands(spec, given, around, found);
        if let Some(count) = spec.remember {
            self.settings(id, &given.operands, found);
            let mut words: Vec<String> = id.split(' ').map(str::to_owned).collect();
            let named: Vec<&str> = given.operands.iter().take(count).filter_map(Arg::literal).collect();
            let plain = |word: &&str| {
                !word.is_empty()
                    && word.chars().all(|sign| sign.is_ascii_alphanumeric() || "-_:.".contains(sign))
            };
            if named.len() == count && named.iter().all(plain) {
                words.extend(named.into_iter().map(str::to_owned));
                found.prefix = Some(words);
            }
        }
    }

    /// What options add. A remembered approval was given without them, so it answers none of it.
    fn of_options(&self, spec: &Spec, id: &str, given: &Given, found: &mut Found) {
        let from = found.findings.len();
        for (effect, because) in &given.effects {
            self.effect(*effect, id, because, "", found);
        }
        if let Some(option) = given.strange.as_ref().filter(|_| spec.options.closed) {
            let reason = format!("what the option {option} makes of {id} is not known");
            found.add(Finding::ask("unknown-option", reason));
        }
        found.findings.iter_mut().skip(from).for_each(|finding| finding.coverable = false);
    }

    /// `NAME=value` among the operands, as `make` takes them: names that change what is run, and values that are more than
    /// a word.
    fn settings(&self, id: &str, operands: &[Arg], found: &mut Found) {
        for operand in operands {
            let Some((name, value)) = operand.literal().and_then(|text| text.split_once('=')) else {
                continue;
            };
            let name = name.trim_end_matches([':', '+', '?', '!']);
            if name.is_empty()
                || !name.chars().all(|sign| sign.is_ascii_alphanumeric() || "_.-".contains(sign))
            {
                continue;
            }
            self.variables_of(&[(name.to_owned(), Arg::known(value))], found);
            if value.chars().any(|sign| sign.is_whitespace() || "$`;|&<>(){}\"'\\=".contains(sign)) {
                let reason = format!("{id} is given a value for {name} that may be a command");
                found.add(Finding::ask("setting", reason).lasting());
            }
        }
    }

    fn operands(&self, spec: &Spec, given: &Given, around: &Around, found: &mut Found) {
        let Some(repeated) = spec.operands.last().copied() else { return };
        let recursive = given.tree || spec.tree;
        let count = given.operands.len();
        let target_by_option = given.files.iter().any(|(role, _)| *role == Role::Write);
        for (index, operand) in given.operands.iter().enumerate() {
            let mut role = spec.operands.get(index).copied().unwrap_or(repeated);
            if let Some(last) = spec.last.filter(|_| index + 1 == count && count > 1 && !target_by_option) {
                role = last;
            }
            if given.look && matches!(role, Role::Write | Role::Delete) {
                role = Role::List;
            }
            self.path(operand, role, recursive, around, found);
        }
        let reads_here = spec.operands.contains(&Role::Read) && recursive;
        let files = spec.operands.iter().filter(|role| **role == Role::Text).count();
        let patterns_by_option = given.has(&["-e", "--regexp", "-f", "--file"]);
        if reads_here && !around.fed && count <= files && !(patterns_by_option && count > 0) {
            self.path(&Arg::known("."), Role::Read, true, around, found);
        }
    }

    /// What an effect means.
    pub(super) fn effect(&self, effect: Effect, id: &str, because: &str, instead: &str, found: &mut Found) {
        let reason = |otherwise: &str| {
            let because = if because.is_empty() { otherwise } else { because };
            let instead = if instead.is_empty() { String::new() } else { format!("; instead: {instead}") };
            format!("{id} {because}{instead}")
        };
        match effect {
            Effect::Look | Effect::Files => {}
            Effect::Change => found.add(Finding::ask(id, reason("changes something"))),
            Effect::Destroy => {
                found.add(Finding::ask(id, reason("throws away what may not come back")).destructive());
            }
            Effect::Network => {
                found.effects.network = true;
                found.add(Finding::ask(id, reason("speaks to other machines")));
            }
            Effect::Run => found.add(Finding::ask(id, reason("runs code that is not looked at here"))),
            Effect::Interactive => {
                found.add(Finding::blocked(id, reason("waits for a person at a terminal")));
            }
            Effect::Forbidden => found.add(Finding::blocked(&format!("floor.{id}"), reason("is never run"))),
            Effect::Unknown => {
                found.add(Finding::ask("unknown-command", reason("may do anything")).lasting());
            }
        }
    }

    /// Whether a folder is of the project, or for temporary files.
    pub(super) fn is_ours(&self, dir: &str) -> bool {
        let in_temp = self.facts.temp.iter().any(|temp| is_below(dir, temp));
        is_below(dir, self.facts.root) || (in_temp && !is_below(self.facts.root, dir))
    }

    /// Judges a script inside of a command.
    pub(super) fn script(&self, text: &str, around: &Around, found: &mut Found) {
        let mut state = State::new(self.facts);
        state.dirs = around.dirs.clone();
        let split = split_in(text, self.facts, state, around.depth + 1);
        self.all(&split, around.depth + 1, &mut found.inner, &mut found.effects);
    }
}

/// As a sentence.
fn sentence(reason: &str) -> String {
    let mut letters = reason.chars();
    let first = letters.next().map(|first| {
        if reason.starts_with("it ")
            || reason.starts_with("the ")
            || reason.starts_with("nothing ")
            || reason.starts_with("what ")
            || reason.starts_with("a ")
            || reason.starts_with("there ")
            || reason.starts_with("commands ")
            || reason.starts_with("by ")
        {
            first.to_ascii_uppercase()
        } else {
            first
        }
    });
    let end = if reason.ends_with('.') { "" } else { "." };
    format!("{}{}{end}", first.map(String::from).unwrap_or_default(), letters.as_str())
}

/// The machine in `https://user@host:1/x`, `user@host:path` or `host`.
fn host_of(text: &str) -> Option<String> {
    let behind = text.split_once("://").map_or(text, |(_, behind)| behind);
    let authority = behind.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?.split(':').next()?;
    (host.contains('.') || host == "localhost" || text.contains("://") || text.contains('@'))
        .then(|| host.to_owned())
        .filter(|host| !host.is_empty())
}
