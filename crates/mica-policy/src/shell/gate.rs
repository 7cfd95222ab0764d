//! The gate in front of the tool that runs commands.

use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use mica_agent::hooks::Gated;
use mica_agent::{Args, Ask, Context, Hooks, Proposal, Scope, Verdict};
use serde_json::Value;

use super::facts::{is_below, tidied};
use super::judge::is_ordinary_file;
use super::{Class, Disk, Given, Judgement, Prefix, Remembered, ShellFacts, ShellRules, judge};
use crate::{Approvals, Mode, ModeSwitch};

/// The place where commands run, owned. [`ShellFacts`] borrows from it.
#[derive(Clone)]
pub struct Place {
    /// The project.
    pub root: String,
    /// The working directory of commands.
    pub cwd: String,
    /// Folders for files that nobody keeps.
    pub temp: Vec<String>,
    /// The home folder.
    pub home: Option<String>,
    /// What the disk says.
    pub disk: Arc<dyn Disk>,
}

impl Place {
    /// Judges a command here.
    pub fn judge(&self, command: &str, rules: &ShellRules, mode: Mode) -> Judgement {
        self.with_facts(|facts| judge(command, facts, rules, mode))
    }

    /// Whether a path, seen from the project, is that of a file which a person who allows changes means: in the project,
    /// and neither of version control, nor with secrets, nor telling tools and agents what to do.
    pub fn is_ordinary_file(&self, path: &str, rules: &ShellRules) -> bool {
        self.with_facts(|facts| is_ordinary_file(path, facts, rules))
    }

    fn with_facts<T>(&self, look: impl FnOnce(&ShellFacts<'_>) -> T) -> T {
        let temp: Vec<&str> = self.temp.iter().map(String::as_str).collect();
        look(&ShellFacts {
            root: &self.root,
            cwd: &self.cwd,
            temp: &temp,
            home: self.home.as_deref(),
            disk: self.disk.as_ref(),
        })
    }

    /// The same place with another working directory: a path below the project, or relative to it. None when it leads
    /// out of the project.
    pub fn inside(&self, folder: &str) -> Option<Self> {
        let path =
            if folder.starts_with('/') { folder.to_owned() } else { format!("{}/{folder}", self.root) };
        let path = tidied(&path);
        let real = self.disk.real(&path).map_or(path, |real| tidied(&real));
        is_below(&real, &self.root).then(|| Self { cwd: real, ..self.clone() })
    }
}

type Made = Result<ShellRules, String>;
type Make = Box<dyn FnOnce() -> Made + Send + Sync>;

/// Judges the calls of one tool by the command in one of its arguments, and proposes what may be remembered of a yes.
/// Clones share what is remembered.
#[derive(Clone)]
pub struct ShellGate {
    tool: String,
    argument: String,
    folder: Option<String>,
    network: Option<(String, Vec<String>)>,
    place: Place,
    /// Read when the first command is judged: most programs start and end without one.
    rules: Arc<LazyLock<Made, Make>>,
    given: Arc<Given>,
    approvals: Approvals,
    mode: ModeSwitch,
}

impl ShellGate {
    /// A gate for the tool of this name, whose argument `argument` holds the command. What the rules remember already
    /// counts, and can be taken back with the rest.
    pub fn new(tool: &str, argument: &str, place: Place, mut rules: ShellRules, mode: ModeSwitch) -> Self {
        let approvals = Approvals::new(rules.take_remembered().iter().map(Remembered::proposal));
        Self { approvals, ..Self::lazy(tool, argument, place, || Ok(rules), mode) }
    }

    /// The same with rules that are read when the first command is judged. When they cannot be, nothing is run.
    pub fn lazy(
        tool: &str,
        argument: &str,
        place: Place,
        rules: impl FnOnce() -> Result<ShellRules, String> + Send + Sync + 'static,
        mode: ModeSwitch,
    ) -> Self {
        let make: Make = Box::new(rules);
        Self {
            tool: tool.to_owned(),
            argument: argument.to_owned(),
            folder: None,
            network: None,
            place,
            rules: Arc::new(LazyLock::new(make)),
            given: Arc::default(),
            approvals: Approvals::default(),
            mode,
        }
    }

    /// Says which argument holds the working directory, if a call names one.
    #[must_use]
    pub fn with_folder(mut self, argument: &str) -> Self {
        self.folder = Some(argument.to_owned());
        self
    }

    /// Says which argument holds the hosts that a call wants to reach, and which of them nobody is asked about.
    #[must_use]
    pub fn with_network(mut self, argument: &str, granted: Vec<String>) -> Self {
        self.network = Some((argument.to_owned(), granted));
        self
    }

    /// Goes by rules that people gave beforehand, too.
    #[must_use]
    pub fn with_given(mut self, given: Given) -> Self {
        self.given = Arc::new(given);
        self
    }

    /// The same gate, with approvals that others look at, too. What it remembered so far goes there.
    #[must_use]
    pub fn sharing(mut self, approvals: Approvals) -> Self {
        for proposal in self.approvals.list() {
            approvals.remember(proposal);
        }
        self.approvals = approvals;
        self
    }

    /// Judges a command as a call in a folder of the project would be.
    ///
    /// # Errors
    /// In words, when the rules cannot be read, or the folder is not in the project.
    pub fn judge_in(&self, command: &str, folder: &str) -> Result<Judgement, String> {
        let place = self.place.inside(folder).ok_or_else(|| format!("{folder} is outside of the project"))?;
        self.judge_at(&place, command, self.mode.get())
    }

    /// Judges a command as a call would be.
    ///
    /// # Errors
    /// In words, when the rules cannot be read.
    pub fn judge(&self, command: &str) -> Result<Judgement, String> {
        self.judge_at(&self.place, command, self.mode.get())
    }

    /// Whether a command only looks, as far as that is evident: what every mode lets through, or asks about only because
    /// of what it reads. `folder` is its working directory, below the project.
    pub fn only_looks(&self, command: &str, folder: &str) -> bool {
        let place = self.place.inside(folder);
        place.is_some_and(|place| {
            self.judge_at(&place, command, Mode::Ask).is_ok_and(|judged| {
                judged.class != Class::Blocked && judged.effects.writes.is_empty() && !judged.effects.network
            })
        })
    }

    /// Remembers an approval from now on.
    pub fn remember(&self, remembered: &Remembered) {
        self.approvals.remember(remembered.proposal());
    }

    /// The rules that people gave beforehand.
    pub fn given(&self) -> &Given {
        &self.given
    }

    fn tables(&self) -> Result<&ShellRules, String> {
        (**self.rules).as_ref().map_err(Clone::clone)
    }

    fn judge_at(&self, place: &Place, command: &str, mode: Mode) -> Result<Judgement, String> {
        let mut rules = self.tables()?.clone();
        self.given.remember_in(&mut rules);
        for remembered in self.approvals.list().iter().filter_map(Remembered::of) {
            rules.remember(remembered);
        }
        Ok(place.judge(command, &rules, mode))
    }

    /// What the tables propose to remember of a yes to a call, whatever is allowed already.
    fn proposed(&self, args: &Args, command: &str) -> Result<Option<Prefix>, String> {
        let rules = self.tables()?;
        Ok(self.place_of(args)?.judge(command, rules, Mode::Edit).remember)
    }

    fn verdict(&self, args: &Args) -> Verdict {
        self.judged(args).unwrap_or_else(|reason| Verdict::Deny {
            reason: format!("{} was not run: {reason}", self.tool),
            rule: None,
        })
    }

    fn judged(&self, args: &Args) -> Result<Verdict, String> {
        let Some(Value::String(command)) = args.get(&self.argument) else {
            return Err(format!("its argument {} is no text.", self.argument));
        };
        let place = self.place_of(args)?;
        let named = self.hosts_of(args)?;
        let judged = self
            .judge_at(&place, command, self.mode.get())
            .map_err(|reason| format!("the rules for commands cannot be read: {reason}."))?;
        if let Some(rule) = self.given.denies(&judged) {
            let rule = format!("deny {}({rule})", self.tool);
            return Ok(Verdict::Deny {
                reason: format!(
                    "The command was not run: the rule \"{rule}\" forbids it. Do not try to get around it. Go on without \
                     it, or tell the user what you need it for."
                ),
                rule: Some(rule),
            });
        }
        let rule = Some(judged.rule.clone());
        let asked = match judged.class {
            Class::Blocked => {
                let reason =
                    format!("The command was not run: {} Do not try to get around it.", judged.reason);
                return Ok(Verdict::Deny { reason, rule });
            }
            Class::Ask if !self.given.allows(command, &judged, self.tables()?) => Some(judged.reason),
            Class::Ask | Class::Safe => None,
        };
        let mode = self.mode.get();
        // Hosts that nobody is asked about are still the network.
        if mode != Mode::Edit && !named.is_empty() {
            let reason = format!("The command was not run: commands reach no network in {mode} mode.");
            return Ok(Verdict::Deny { reason, rule: Some(format!("mode.{mode}")) });
        }
        let hosts = self.not_granted(named);
        if hosts.is_empty() {
            let proposals = judged.remember.as_ref().map(proposals).unwrap_or_default();
            return Ok(asked.map_or(Verdict::Allow, |reason| Verdict::Ask { reason, rule, proposals }));
        }
        if asked.is_none() && self.given.allows_everything() {
            return Ok(Verdict::Allow);
        }
        let wants = format!("It wants to reach {}.", hosts.join(", "));
        Ok(Verdict::Ask {
            reason: asked.map_or(wants.clone(), |reason| format!("{reason} {wants}")),
            rule: Some("network".to_owned()),
            // A yes to the network is for this once.
            proposals: Vec::new(),
        })
    }

    /// Where a call runs.
    fn place_of(&self, args: &Args) -> Result<Place, String> {
        match self.folder.as_ref().and_then(|argument| Some((argument, args.get(argument)?))) {
            None | Some((_, Value::Null)) => Ok(self.place.clone()),
            Some((_, Value::String(folder))) => self.place.inside(folder).ok_or_else(|| {
                format!("{folder:?} is outside of the project, and commands run inside. Give a folder of it.")
            }),
            Some((argument, _)) => Err(format!("its argument {argument} is no text.")),
        }
    }

    /// The hosts that a call names.
    fn hosts_of(&self, args: &Args) -> Result<Vec<String>, String> {
        let Some((argument, _)) = &self.network else { return Ok(Vec::new()) };
        let hosts = match args.get(argument) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(hosts)) => hosts,
            Some(_) => return Err(format!("its argument {argument} is no list of hosts.")),
        };
        let texts: Option<Vec<&str>> = hosts.iter().map(Value::as_str).collect();
        let texts =
            texts.ok_or_else(|| format!("its argument {argument} has something in it that is no text."))?;
        Ok(texts.into_iter().map(str::to_owned).collect())
    }

    /// Of these hosts, those that a person is asked about.
    fn not_granted(&self, mut hosts: Vec<String>) -> Vec<String> {
        if let Some((_, granted)) = &self.network {
            hosts.retain(|host| !granted.contains(host));
        }
        hosts
    }
}

#[async_trait]
impl Hooks for ShellGate {
    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        if gated.spec.name == self.tool { self.verdict(&gated.args) } else { Verdict::Pass }
    }

    async fn remember(&self, ask: &Ask, proposal: &Proposal) -> Result<(), String> {
        let Some(remembered) = Remembered::of(proposal).filter(|_| ask.call.name == self.tool) else {
            return Ok(());
        };
        // A question may have come from elsewhere: what the tables do not propose for this command is not remembered.
        let nothing = Args::new();
        let args = ask.arguments.as_object().unwrap_or(&nothing);
        let command = args.get(&self.argument).and_then(Value::as_str).unwrap_or_default();
        if self.proposed(args, command)?.as_ref() != Some(&remembered.prefix) {
            return Err(format!("the rules do not propose it for the command {command:?}"));
        }
        self.remember(&remembered);
        Ok(())
    }
}

/// What may be remembered of a yes: the shorter time first.
fn proposals(prefix: &Prefix) -> Vec<Proposal> {
    let of = |scope| Remembered { prefix: prefix.clone(), scope }.proposal();
    vec![of(Scope::Session), of(Scope::Project)]
}

#[cfg(test)]
mod tests;
