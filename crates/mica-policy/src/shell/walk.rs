//! Walks through a script as the shell would, through every branch, and collects the commands it runs.
//!
//! It follows the working directory and the variables on every path: what a command may see is what any path to it may
//! have left. Loops are walked until nothing changes, without collecting, and then once more.

mod builtins;
mod expand;

use std::collections::BTreeMap;

use super::facts::ShellFacts;
use super::split::{Access, Command, Joint, OpaqueReason, Split};
use super::state::{Held, State};
use super::syntax::{
    Assign, ByteRange, Item, Kind, Link, Node, Pipeline, Redirect, RedirectKind, Sequence, Value, Word,
};
use super::word::{Arg, Piece};

/// How many steps a walk may take. A chain of thousands of commands takes a fraction of it.
const MAX_STEPS: usize = 60_000;

pub(super) struct Walker<'a> {
    facts: &'a ShellFacts<'a>,
    depth: usize,
    commands: Vec<Command>,
    opaque: Option<(OpaqueReason, ByteRange)>,
    /// Functions of the script, and whether one may change the directory.
    functions: BTreeMap<String, bool>,
    /// How many loops are being tried out; only at zero are commands collected.
    trying: usize,
    steps: usize,
    joint: Joint,
    background: bool,
    fed: bool,
    function_body: bool,
}

/// What is known after a command that succeeded, and after one that failed.
struct Outcome {
    ok: State,
    failed: State,
}

impl Outcome {
    fn same(state: &State) -> Self {
        Self { ok: state.clone(), failed: state.clone() }
    }

    fn either(mut self) -> State {
        self.ok.join(&self.failed);
        self.ok
    }
}

impl<'a> Walker<'a> {
    pub(super) fn new(facts: &'a ShellFacts<'a>, depth: usize) -> Self {
        Self {
            facts,
            depth,
            commands: Vec::new(),
            opaque: None,
            functions: BTreeMap::new(),
            trying: 0,
            steps: 0,
            joint: Joint::Then,
            background: false,
            fed: false,
            function_body: false,
        }
    }

    pub(super) fn into_split(self) -> Split {
        match self.opaque {
            None => Split::Plain { commands: self.commands },
            Some((reason, at)) => Split::Opaque { reason, at, commands: self.commands },
        }
    }

    /// Says that something cannot be vouched for. The first one counts.
    pub(super) fn opaque(&mut self, reason: OpaqueReason, at: ByteRange) {
        if self.opaque.is_none() {
            self.opaque = Some((reason, at));
        }
    }

    fn step(&mut self, at: &ByteRange) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            self.opaque(OpaqueReason::TooMuch, at.clone());
            return false;
        }
        true
    }

    fn push(&mut self, mut command: Command) {
        command.joint = std::mem::replace(&mut self.joint, Joint::Then);
        command.background |= self.background;
        command.fed |= self.fed;
        if self.trying == 0 {
            self.commands.push(command);
        }
    }

    /// Walks commands one after the other.
    pub(super) fn sequence(&mut self, sequence: &Sequence, state: &mut State) {
        *state = self.outcome_of(sequence, state).either();
    }

    fn outcome_of(&mut self, sequence: &Sequence, state: &State) -> Outcome {
        let mut outcome = Outcome::same(state);
        for (index, item) in sequence.items.iter().enumerate() {
            if self.steps > MAX_STEPS {
                return outcome;
            }
            if index > 0 {
                let state = outcome.either();
                outcome = self.item(item, state);
            } else {
                outcome = self.item(item, outcome.ok);
            }
        }
        outcome
    }

    fn item(&mut self, item: &Item, state: State) -> Outcome {
        if item.background {
            let before = std::mem::replace(&mut self.background, true);
            self.list(item, state.clone());
            self.background = before;
            return Outcome { failed: state.clone(), ok: state };
        }
        self.list(item, state)
    }

    fn list(&mut self, item: &Item, state: State) -> Outcome {
        let mut outcome = self.pipeline(&item.first, state);
        for (link, pipeline) in &item.rest {
            match link {
                Link::And => {
                    self.joint = Joint::And;
                    let next = self.pipeline(pipeline, outcome.ok);
                    let mut failed = outcome.failed;
                    failed.join(&next.failed);
                    outcome = Outcome { ok: next.ok, failed };
                }
                Link::Or => {
                    self.joint = Joint::Or;
                    let next = self.pipeline(pipeline, outcome.failed);
                    let mut ok = outcome.ok;
                    ok.join(&next.ok);
                    outcome = Outcome { ok, failed: next.failed };
                }
            }
        }
        outcome
    }

    fn pipeline(&mut self, pipeline: &Pipeline, state: State) -> Outcome {
        if let [node] = pipeline.commands.as_slice() {
            let outcome = self.node(node, state);
            return if pipeline.negated {
                Outcome { ok: outcome.failed, failed: outcome.ok }
            } else {
                outcome
            };
        }
        // Each command of a pipe has a shell of its own.
        let fed = self.fed;
        for (index, node) in pipeline.commands.iter().enumerate() {
            if index > 0 {
                self.joint = Joint::Pipe;
                self.fed = true;
            }
            self.node(node, state.clone());
        }
        self.fed = fed;
        Outcome { failed: state.clone(), ok: state }
    }

    fn node(&mut self, node: &Node, state: State) -> Outcome {
        if !self.step(&node.at) {
            return Outcome::same(&state);
        }
        match &node.kind {
            Kind::Simple { assigns, words } => self.simple(node, assigns, words, state),
            Kind::Time(pipeline) => self.pipeline(pipeline, state),
            kind => {
                let mut state = state;
                let fed = self.fed;
                self.fed |= self.redirects_of_compound(node, &mut state);
                let outcome = self.compound(kind, node, state);
                self.fed = fed;
                outcome
            }
        }
    }

    /// Redirections of a group or loop are a command of their own. The answer is whether one feeds it.
    fn redirects_of_compound(&mut self, node: &Node, state: &mut State) -> bool {
        if node.redirects.is_empty() {
            return false;
        }
        let mut command = Command::new(Vec::new(), state.dirs.clone(), node.at.clone());
        let fed = self.redirects(&node.redirects, state, &mut command);
        if !command.redirects.is_empty() {
            self.push(command);
        }
        fed
    }

    fn compound(&mut self, kind: &Kind, node: &Node, mut state: State) -> Outcome {
        match kind {
            Kind::Simple { .. } | Kind::Time(_) => {}
            Kind::Group(body) => return self.outcome_of(body, &state),
            Kind::Subshell(body) => {
                self.outcome_of(body, &state);
            }
            Kind::If { arms, otherwise } => {
                let mut ends: Option<State> = None;
                for (condition, body) in arms {
                    let outcome = self.outcome_of(condition, &state);
                    let end = self.outcome_of(body, &outcome.ok).either();
                    ends = Some(joined(ends, end));
                    state = outcome.failed;
                }
                if let Some(body) = otherwise {
                    self.sequence(body, &mut state);
                }
                state = joined(ends, state);
            }
            Kind::While { condition, body } => {
                state = self.looped(state, |walker, state| {
                    let outcome = walker.outcome_of(condition, &state);
                    let mut end = walker.outcome_of(body, &outcome.ok).either();
                    end.join(&outcome.failed);
                    end
                });
            }
            Kind::For { name, words, body } => {
                let mut options: Vec<Arg> = Vec::new();
                match words {
                    Some(words) => {
                        words.iter().for_each(|word| options.extend(self.expand(word, &mut state)));
                    }
                    None => options.push(Arg::unknown()),
                }
                let held = held_by_any(&options);
                // The variable of a loop is set as any other: `for PATH in …`.
                let mut command = Command::new(Vec::new(), state.dirs.clone(), node.at.clone());
                command.assigns.push((name.clone(), Arg::unknown()));
                self.push(command);
                state = self.looped(state, |walker, mut state| {
                    state.set(name, held.clone());
                    walker.outcome_of(body, &state).either()
                });
            }
            Kind::ForArith { head, body } => {
                self.arithmetic(head, &mut state);
                state = self.looped(state, |walker, mut state| {
                    walker.arithmetic(head, &mut state);
                    walker.outcome_of(body, &state).either()
                });
            }
            Kind::Case { word, arms } => {
                self.expand(word, &mut state);
                let mut ends = state.clone();
                for (patterns, body) in arms {
                    for pattern in patterns {
                        self.expand(pattern, &mut state);
                    }
                    // An arm may be entered from the one before it.
                    let mut start = state.clone();
                    start.join(&ends);
                    let end = self.outcome_of(body, &start).either();
                    ends.join(&end);
                }
                state = ends;
            }
            Kind::Function { name, body } => self.define(name, body, &state),
            Kind::Test(words) => {
                self.test(words, &mut state);
                self.push(Command::new(Vec::new(), state.dirs.clone(), node.at.clone()));
            }
            Kind::Arith(inside) => {
                self.arithmetic(inside, &mut state);
                self.push(Command::new(Vec::new(), state.dirs.clone(), node.at.clone()));
            }
            Kind::Coproc(body) => {
                let background = std::mem::replace(&mut self.background, true);
                self.node(body, state.clone());
                self.background = background;
            }
        }
        Outcome { failed: state.clone(), ok: state }
    }

    /// Walks a loop until what is known at its start holds for every round.
    fn looped(&mut self, state: State, round: impl Fn(&mut Self, State) -> State) -> State {
        let mut start = state;
        self.trying += 1;
        for attempt in 0..3 {
            let end = round(self, start.clone());
            let mut joined = start.clone();
            joined.join(&end);
            if joined == start {
                break;
            }
            start = joined;
            if attempt == 1 || self.trying > 3 {
                start.forget();
                break;
            }
        }
        self.trying -= 1;
        let end = round(self, start.clone());
        start.join(&end);
        start
    }

    fn define(&mut self, name: &str, body: &Node, state: &State) {
        // It runs later, from wherever, with arguments and variables that are not known yet.
        let mut inside = state.clone();
        inside.forget();
        self.functions.insert(name.to_owned(), true);
        let from = self.commands.len();
        let was_body = std::mem::replace(&mut self.function_body, true);
        let outcome = self.node(body, inside.clone());
        self.function_body = was_body;
        let moves = outcome.either().dirs != inside.dirs
            || self
                .commands
                .iter()
                .skip(from)
                .any(|command| matches!(command.name(), Some("cd" | "pushd" | "popd")));
        self.functions.insert(name.to_owned(), moves);
        let mut own = self.commands.iter_mut().skip(from).filter(|command| command.name() == Some(name));
        if let Some(first) = own.next() {
            // It calls itself: twice, or without waiting, it never ends and takes the machine with it.
            if (first.background || first.joint == Joint::Pipe || own.next().is_some())
                && let Some(command) = self.commands.get_mut(from..).and_then(<[Command]>::first_mut)
            {
                command.bomb = true;
            }
        }
    }

    fn simple(&mut self, node: &Node, assigns: &[Assign], words: &[Word], mut state: State) -> Outcome {
        let mut argv = Vec::with_capacity(words.len());
        for word in words {
            self.expand_into(word, &mut state, &mut argv);
        }
        let mut command = Command::new(argv, state.dirs.clone(), node.at.clone());
        let mut values = Vec::with_capacity(assigns.len());
        for assign in assigns {
            let (arg, held) = self.value_of(assign, &mut state);
            if words.is_empty() {
                state.set(&assign.name, held.clone());
            }
            values.push((assign.name.clone(), held));
            command.assigns.push((assign.name.clone(), arg));
        }
        command.fed |= self.redirects(&node.redirects, &mut state, &mut command);
        if words.is_empty() {
            self.push(command);
            return Outcome { failed: state.clone(), ok: state };
        }
        self.run(command, &values, state)
    }

    fn value_of(&mut self, assign: &Assign, state: &mut State) -> (Arg, Held) {
        if let Some(subscript) = &assign.subscript {
            self.arithmetic(subscript, state);
        }
        match &assign.value {
            Value::Word(word) => {
                let arg = self.expand_one(word, state);
                let held = match (&arg.literal(), assign.append || assign.subscript.is_some()) {
                    (Some(text), false) => Held::Text((*text).to_owned()),
                    (None, false)
                        if !arg.is_open()
                            && !arg.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_))) =>
                    {
                        Held::Number
                    }
                    _ => Held::Unknown,
                };
                (arg, held)
            }
            Value::Array(words) => {
                for word in words {
                    self.expand(word, state);
                }
                (Arg::unknown(), Held::Unknown)
            }
        }
    }

    /// Notes the files of redirections. The answer is whether one feeds the command.
    fn redirects(&mut self, redirects: &[Redirect], state: &mut State, command: &mut Command) -> bool {
        let mut fed = false;
        for redirect in redirects {
            if redirect.kind == RedirectKind::Here {
                let mut text = self.expand_one(&redirect.target, state);
                text.at = redirect.at.clone();
                command.input = Some(text);
                fed = true;
                continue;
            }
            let mut arg = self.expand_one(&redirect.target, state);
            // Patterns are taken as names where they fit one file; they are judged as patterns.
            arg.at = redirect.at.clone();
            match redirect.kind {
                RedirectKind::Read => {
                    fed = true;
                    command.redirects.push((Access::Read, arg));
                }
                RedirectKind::Write => command.redirects.push((Access::Write, arg)),
                RedirectKind::ReadWrite => {
                    command.redirects.push((Access::Read, arg.clone()));
                    command.redirects.push((Access::Write, arg));
                }
                RedirectKind::Duplicate => {
                    let descriptor = arg.literal().is_some_and(|text| {
                        text == "-" || text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit())
                    });
                    if !descriptor && (arg.is_open() || !arg.is_dynamic()) {
                        command.redirects.push((Access::Write, arg));
                    }
                }
                RedirectKind::Here => {}
            }
        }
        fed
    }
}

fn joined(ends: Option<State>, end: State) -> State {
    match ends {
        None => end,
        Some(mut ends) => {
            ends.join(&end);
            ends
        }
    }
}

/// What a variable holds that runs through these.
fn held_by_any(options: &[Arg]) -> Held {
    match options {
        [one] => one.literal().map_or(Held::Unknown, |text| Held::Text(text.to_owned())),
        many => {
            let number = |arg: &Arg| match arg.literal() {
                Some(text) => Held::Text(text.to_owned()).is_number(),
                None => {
                    !arg.is_open() && arg.pieces.iter().all(|piece| matches!(piece, Piece::Unknown { .. }))
                }
            };
            if !many.is_empty() && many.iter().all(number) { Held::Number } else { Held::Unknown }
        }
    }
}
