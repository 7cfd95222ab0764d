//! Builtins that change what the script knows: directories, variables, evaluation, functions.

use super::{Arg, ByteRange, Command, Held, OpaqueReason, Outcome, State, Walker};
use crate::shell::parse::parse_at;
use crate::shell::state::Dirs;

impl Walker<'_> {
    /// Notes a command, and what it leaves behind.
    pub(super) fn run(
        &mut self,
        mut command: Command,
        values: &[(String, Held)],
        mut state: State,
    ) -> Outcome {
        // `command cd x` and `builtin cd x` are `cd x`.
        let prefixes =
            command.argv.iter().take_while(|arg| matches!(arg.literal(), Some("command" | "builtin")));
        let skip = prefixes.count();
        let at = command.at.clone();
        let Some(first) = command.argv.get(skip) else {
            // Expansions that left no word: bash runs nothing, unless what is unknown is a command after all.
            self.push(command);
            return Outcome { failed: state.clone(), ok: state };
        };
        let Some(name) = first.literal().map(str::to_owned) else {
            self.opaque(OpaqueReason::DynamicCommand, first.at.clone());
            // `$X ..` may be a `cd`, and change anything that a builtin can.
            state.forget();
            self.push(command);
            return Outcome { failed: state.clone(), ok: state };
        };
        if let Some(moves) = self.functions.get(&name).copied() {
            command.function = true;
            self.push(command);
            let dirs = state.dirs.clone();
            state.forget();
            if !moves {
                state.dirs = dirs;
            }
            return Outcome { failed: state.clone(), ok: state };
        }
        match name.as_str() {
            "cd" | "chdir" | "pushd" | "popd" => {
                let failed = state.clone();
                let args: Vec<Arg> = command.argv.iter().skip(skip + 1).cloned().collect();
                self.push(command);
                self.change_directory(&name, &args, values, &mut state);
                return Outcome { ok: state, failed };
            }
            "eval" | "trap" => {
                let args: Vec<Arg> = command.argv.iter().skip(skip + 1).cloned().collect();
                self.push(command);
                if name == "eval" {
                    self.evaluate(&args, at, &mut state);
                } else {
                    self.trap(&args, &state);
                }
            }
            "source" | "." => {
                self.push(command);
                state.forget();
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                let args: Vec<Arg> = command.argv.iter().skip(skip + 1).cloned().collect();
                self.declare(&mut command, &args, &mut state);
                self.push(command);
            }
            "read" | "unset" | "mapfile" | "readarray" | "getopts" | "printf" | "let" | "wait" => {
                let args: Vec<Arg> = command.argv.iter().skip(skip + 1).cloned().collect();
                self.assigned_by(&name, &args, &mut state, &mut command);
                self.push(command);
            }
            "shopt" | "set" | "alias" | "enable" | "hash" => {
                let args = command.argv.get(skip + 1..).unwrap_or(&[]);
                let shows = args.is_empty()
                    || (name == "alias" && args.iter().all(|arg| arg.literal() == Some("-p")));
                if !(shows || name == "set" && args.iter().all(is_careful_setting)) {
                    self.opaque(OpaqueReason::Reading, at);
                    state.forget_variables();
                }
                self.push(command);
            }
            "test" | "[" => {
                // `-v` evaluates the subscript of the name it is given.
                let tests_name = command.argv.windows(2).any(|pair| match pair {
                    [flag, name] => {
                        flag.literal() == Some("-v") && name.literal().is_none_or(|name| name.contains('['))
                    }
                    _ => false,
                });
                if tests_name {
                    self.opaque(OpaqueReason::Arithmetic, at);
                }
                self.push(command);
            }
            _ => self.push(command),
        }
        Outcome { failed: state.clone(), ok: state }
    }

    fn evaluate(&mut self, args: &[Arg], at: ByteRange, state: &mut State) {
        let words: Option<Vec<&str>> = args.iter().map(Arg::literal).collect();
        match words {
            Some(words) => self.script(&words.join(" "), at, state),
            None => {
                self.opaque(OpaqueReason::DynamicScript, at);
                state.forget();
            }
        }
    }

    /// Walks a script that is in a string.
    fn script(&mut self, text: &str, at: ByteRange, state: &mut State) {
        if self.depth > 8 {
            self.opaque(OpaqueReason::TooMuch, at);
            return;
        }
        self.depth += 1;
        let (sequence, stop) = parse_at(text, self.depth * 4);
        self.sequence(&sequence, state);
        if stop.is_some() {
            self.opaque(OpaqueReason::Syntax, at);
        }
        self.depth -= 1;
    }

    fn trap(&mut self, args: &[Arg], state: &State) {
        let Some(action) = args.iter().find(|arg| !matches!(arg.literal(), Some("-p" | "-l" | "--"))) else {
            return;
        };
        match action.literal() {
            Some("-" | "") => {}
            Some(text) => {
                let mut later = state.clone();
                later.forget();
                self.script(text, action.at.clone(), &mut later);
            }
            None => self.opaque(OpaqueReason::DynamicScript, action.at.clone()),
        }
    }

    fn declare(&mut self, command: &mut Command, args: &[Arg], state: &mut State) {
        for (name, _) in &command.assigns {
            state.set(name, Held::Unknown);
        }
        let is_flag = |arg: &Arg| arg.known_start().starts_with(['-', '+']);
        // `-i` evaluates what is assigned, `-n` makes a name stand for another.
        let evaluates = args.iter().any(|arg| is_flag(arg) && arg.known_start().contains(['i', 'n']));
        for arg in args.iter().filter(|arg| !is_flag(arg)) {
            let Some((name, _)) = arg.known_start().split_once('=') else {
                if arg.is_dynamic() {
                    state.forget_variables();
                }
                continue;
            };
            let value = arg.after(name.len() + 1);
            let held = value.literal().map_or(Held::Unknown, |text| Held::Text(text.to_owned()));
            if (evaluates && !held.is_number()) || name.contains('[') {
                self.opaque(OpaqueReason::Arithmetic, arg.at.clone());
            }
            let appends = name.ends_with('+');
            let name = name.trim_end_matches('+');
            state.set(name, if appends { Held::Unknown } else { held });
            command.assigns.push((name.to_owned(), value));
        }
    }

    fn assigned_by(&mut self, builtin: &str, args: &[Arg], state: &mut State, command: &mut Command) {
        let only_named = matches!(builtin, "printf" | "wait");
        let mut takes = !only_named;
        for arg in args {
            let Some(text) = arg.literal() else {
                if takes {
                    // A name with a subscript is evaluated; a name that is not known may be any.
                    self.opaque(OpaqueReason::Arithmetic, arg.at.clone());
                    state.forget_variables();
                }
                continue;
            };
            if (builtin == "printf" && text == "-v") || (builtin == "wait" && text == "-p") {
                takes = true;
                continue;
            }
            if !takes {
                continue;
            }
            if text.contains('[') || (builtin == "let" && text.contains(['$', '`'])) {
                self.opaque(OpaqueReason::Arithmetic, arg.at.clone());
            }
            if builtin == "let" {
                for name in text.split(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_')) {
                    if state.held.contains_key(name) && !state.lookup(name, self.facts).is_number() {
                        self.opaque(OpaqueReason::Arithmetic, arg.at.clone());
                    }
                }
            }
            let name: String =
                text.chars().take_while(|sign| sign.is_ascii_alphanumeric() || *sign == '_').collect();
            state.set(&name, Held::Unknown);
            if builtin != "unset" && !name.is_empty() {
                command.assigns.push((name, Arg::unknown()));
            }
            takes = !only_named;
        }
    }

    fn change_directory(&self, name: &str, args: &[Arg], values: &[(String, Held)], state: &mut State) {
        let is_flag = |arg: &&Arg| matches!(arg.literal(), Some("-P" | "-L" | "-e" | "-@" | "--" | "-n"));
        let target = args.iter().find(|arg| !is_flag(arg));
        let here = state.dirs.clone();
        // With a search path, a relative name may be found elsewhere.
        let searched = state.held.contains_key("CDPATH") || values.iter().any(|(name, _)| name == "CDPATH");
        state.dirs = match (name, target.map(Arg::literal)) {
            ("popd", None) => state.stack.pop().unwrap_or_else(Dirs::anywhere),
            ("popd", Some(_)) | ("pushd", None) => {
                state.stack.clear();
                Dirs::anywhere()
            }
            (_, None) => match state.lookup("HOME", self.facts) {
                Held::Text(home) => here.moved(&home),
                _ => Dirs::anywhere(),
            },
            (_, Some(Some(text))) => {
                let elsewhere = searched && !text.starts_with(['/', '.']);
                if elsewhere || text.is_empty() || text.starts_with(['-', '+']) {
                    Dirs::anywhere()
                } else {
                    here.moved(text)
                }
            }
            (_, Some(None)) => Dirs::anywhere(),
        };
        if name == "pushd" {
            state.stack.push(here);
        }
    }
}

/// `set -e`, `set -x`, `set -o pipefail`: how careful scripts begin.
fn is_careful_setting(arg: &Arg) -> bool {
    let Some(text) = arg.literal() else { return false };
    matches!(text, "pipefail" | "errexit" | "nounset" | "xtrace")
        || (text.len() > 1
            && text.starts_with(['-', '+'])
            && text.bytes().skip(1).all(|flag| b"euxo".contains(&flag)))
}
