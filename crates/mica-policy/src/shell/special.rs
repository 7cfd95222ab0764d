//! Commands that a table cannot describe: those that run others, and those with a language of their own.

use super::Finding;
use super::judge::{Around, Found, Judging};
use super::options::read;
use super::spec::{Effect, Role, Spec};
use super::state::Dirs;
use super::word::{Arg, Piece};

impl Judging<'_> {
    /// Judges a command by its handler. False where the table is to go on.
    pub(super) fn special(
        &self,
        special: &str,
        spec: &Spec,
        id: &str,
        args: &[Arg],
        around: &Around,
        found: &mut Found,
    ) -> bool {
        match special {
            "env" => self.env(spec, id, args, around, found),
            "xargs" => self.xargs(spec, args, around, found),
            "find" => self.find(id, args, around, found),
            "shell" => self.shell(id, args, around, found),
            "interpreter" => self.interpreter(spec, id, args, around, found),
            "sed" => return self.sed(spec, args, around, found),
            "awk" => return self.awk(spec, args, found),
            "tar" => self.tar(spec, args, around, found),
            "dd" => self.dd(args, around, found),
            "kill" => return kill(args, found),
            "git" => self.git(spec, args, around, found),
            "git-config" => self.git_config(spec, id, args, found),
            "source" => self.source(args, around, found),
            "grep" | "rg" => self.grep(special == "rg", spec, id, args, around, found),
            "remote" => {
                for arg in args.iter().filter(|arg| !arg.known_start().starts_with('-')) {
                    self.path(arg, Role::List, false, around, found);
                }
                return false;
            }
            "exec" if args.is_empty() => {}
            "wrapper" | "exec" => self.wrapper(spec, id, args, around, found),
            _ => return false,
        }
        true
    }

    fn inside(&self, argv: &[Arg], around: &Around, found: &mut Found) {
        self.argv(argv, &Around { depth: around.depth + 1, ..around.clone() }, found);
    }

    /// `nice -n 5 COMMAND`, `timeout 5 COMMAND`.
    fn wrapper(&self, spec: &Spec, id: &str, args: &[Arg], around: &Around, found: &mut Found) {
        let given = read(spec, args);
        for (effect, because) in &given.effects {
            self.effect(*effect, id, because, "", found);
        }
        for (role, file) in &given.files {
            self.path(file, *role, false, around, found);
        }
        if given.look {
            return;
        }
        let inner = given.operands.get(spec.skip..).unwrap_or(&[]);
        if given.operands.iter().take(spec.skip).any(|arg| arg.splits) {
            found.add(
                Finding::ask("opaque", format!("the command that {id} runs is known only when it runs"))
                    .lasting(),
            );
        }
        self.effect(spec.effect, id, &spec.because, &spec.instead, found);
        if spec.effect == Effect::Run {
            // Where its options end is not known for sure, so what must never run is looked for in every place.
            let tables = &self.rules.tables;
            let names = given.operands.iter().filter_map(Arg::literal);
            let forbidden =
                names.filter(|name| tables.of(name).is_some_and(|spec| spec.effect == Effect::Forbidden));
            for name in forbidden {
                self.effect(Effect::Forbidden, name, "must not be run, in any way", "", found);
            }
            found.findings.iter_mut().for_each(|finding| finding.coverable = false);
        }
        self.inside(inner, around, found);
    }

    fn env(&self, spec: &Spec, id: &str, args: &[Arg], around: &Around, found: &mut Found) {
        let given = read(spec, args);
        for (effect, because) in &given.effects {
            self.effect(*effect, id, because, "", found);
        }
        let mut around = around.clone();
        if let Some(folder) = given.value(&["-C", "--chdir"]) {
            around.dirs = moved(&around.dirs, folder);
        }
        let is_assignment = |arg: &&Arg| arg.known_start().find('=').is_some_and(|at| at > 0);
        // A lone dash is `-i`.
        let skipped = usize::from(given.operands.first().and_then(Arg::literal) == Some("-"));
        let assigns: Vec<(String, Arg)> = given
            .operands
            .iter()
            .skip(skipped)
            .take_while(is_assignment)
            .filter_map(|arg| {
                arg.known_start()
                    .split_once('=')
                    .map(|(name, _)| (name.to_owned(), arg.after(name.len() + 1)))
            })
            .collect();
        self.variables_of(&assigns, found);
        let inner = given.operands.get(skipped + assigns.len()..).unwrap_or(&[]);
        self.inside(inner, &around, found);
    }

    fn xargs(&self, spec: &Spec, args: &[Arg], around: &Around, found: &mut Found) {
        let given = read(spec, args);
        for (role, file) in &given.files {
            self.path(file, *role, false, around, found);
        }
        let replaced =
            given.value(&["-I", "--replace", "-i"]).map(|value| value.literal().unwrap_or("{}").to_owned());
        let mut inner: Vec<Arg> = Vec::new();
        for arg in &given.operands {
            match (&replaced, arg.literal()) {
                (Some(mark), Some(text)) if !mark.is_empty() && text.contains(mark.as_str()) => {
                    let mut with = Arg { at: arg.at.clone(), ..Arg::default() };
                    for (index, text) in text.split(mark.as_str()).enumerate() {
                        if index > 0 {
                            with.pieces.push(Piece::Unknown { name: None, number: false });
                        }
                        if !text.is_empty() {
                            with.pieces.push(Piece::Text(text.to_owned()));
                        }
                    }
                    inner.push(with);
                }
                _ => inner.push(arg.clone()),
            }
        }
        if inner.is_empty() {
            return;
        }
        if replaced.is_none() {
            inner.push(Arg::unknown());
        }
        self.inside(&inner, &Around { fed: true, ..around.clone() }, found);
    }

    fn find(&self, id: &str, args: &[Arg], around: &Around, found: &mut Found) {
        let begins_test = |arg: &Arg| arg.known_start().starts_with(['-', '(', '!', ',']);
        let mut at = args
            .iter()
            .take_while(|arg| {
                matches!(arg.literal(), Some("-L" | "-H" | "-P")) || arg.known_start().starts_with("-O")
            })
            .count();
        let mut starts: Vec<Arg> = Vec::new();
        while let Some(arg) = args.get(at).filter(|arg| !begins_test(arg)) {
            if arg.is_open() {
                let reason = format!("{id} is given words that are known only when it runs");
                found.add(Finding::ask("dynamic-argument", reason).looking());
            }
            self.path(arg, Role::List, false, around, found);
            starts.push(Arg { tree: true, ..arg.clone() });
            at += 1;
        }
        if starts.is_empty() {
            starts.push(Arg { tree: true, ..Arg::known(".") });
        }
        while let Some(arg) = args.get(at) {
            at += 1;
            match arg.literal() {
                Some("-delete") => {
                    let before = args.get(..at).unwrap_or(&[]);
                    for start in &narrowed(&starts, before) {
                        self.path(start, Role::Delete, false, around, found);
                    }
                    found.add(
                        Finding::ask("find -delete", "find deletes what it finds".to_owned()).destructive(),
                    );
                }
                Some("-fprint" | "-fprint0" | "-fls" | "-fprintf") => {
                    if let Some(file) = args.get(at) {
                        self.path(file, Role::Write, false, around, found);
                    }
                    at += 1;
                }
                Some("-files0-from" | "-newer" | "-samefile") => {
                    if let Some(file) = args.get(at) {
                        self.path(file, Role::List, false, around, found);
                    }
                    at += 1;
                }
                Some("-exec" | "-execdir" | "-ok" | "-okdir") => {
                    let rest = args.get(at..).unwrap_or(&[]);
                    let length = rest
                        .iter()
                        .enumerate()
                        .position(|(index, arg)| {
                            arg.literal() == Some(";")
                                || (arg.literal() == Some("+")
                                    && rest.get(index.wrapping_sub(1)).and_then(Arg::literal) == Some("{}"))
                        })
                        .unwrap_or(rest.len());
                    let before = args.get(..at).unwrap_or(&[]);
                    self.found_files(
                        rest.get(..length).unwrap_or(&[]),
                        &narrowed(&starts, before),
                        around,
                        found,
                    );
                    at += length + 1;
                }
                None if arg.is_open() => {
                    let reason = format!("{id} is given words that are known only when it runs");
                    found.add(Finding::ask("dynamic-argument", reason).lasting());
                }
                _ => {}
            }
        }
    }

    /// The command of `-exec`, once for each folder that is searched.
    fn found_files(&self, inner: &[Arg], starts: &[Arg], around: &Around, found: &mut Found) {
        for start in starts {
            let argv: Vec<Arg> = inner
                .iter()
                .map(|arg| match arg.literal() {
                    Some("{}") => start.clone(),
                    Some(text) if text.contains("{}") => {
                        Arg { pieces: vec![Piece::Unknown { name: None, number: false }], ..Arg::default() }
                    }
                    _ => arg.clone(),
                })
                .collect();
            if inner.first().and_then(Arg::literal).is_some_and(|name| name.contains("{}")) {
                found.add(
                    Finding::ask("program-file", "it runs the files that find finds".to_owned()).lasting(),
                );
                return;
            }
            self.inside(&argv, around, found);
        }
    }

    /// `bash`, `sh` and their like.
    fn shell(&self, id: &str, args: &[Arg], around: &Around, found: &mut Found) {
        let mut at = 0;
        let (mut script, mut stdin, mut check) = (false, false, false);
        while let Some(arg) = args.get(at) {
            let Some(text) = arg.literal() else { break };
            if matches!(text, "--version" | "--help") {
                return;
            }
            if text == "--" || text == "-" {
                at += 1;
                break;
            }
            if let Some(name) = text.strip_prefix("--") {
                at += 1;
                if matches!(name, "rcfile" | "init-file") {
                    found.add(
                        Finding::ask("run-script", format!("{id} reads a file of settings first")).lasting(),
                    );
                    at += 1;
                }
                continue;
            }
            let Some(flags) = text.strip_prefix(['-', '+']) else { break };
            at += 1;
            at += flags.chars().filter(|flag| matches!(flag, 'o' | 'O')).count();
            script |= flags.contains('c');
            stdin |= flags.contains('s');
            check |= flags.contains('n');
            if flags.contains('i') {
                found.add(Finding::blocked(
                    "floor.interactive-shell",
                    format!("{id} -i waits for a person at a terminal"),
                ));
            }
        }
        let operand = args.get(at);
        if script {
            found.add(
                Finding::ask(
                    "nested-shell",
                    format!("{id} -c is a shell in a shell; the command can be given directly"),
                )
                .lasting(),
            );
            match operand.map(Arg::literal) {
                Some(Some(text)) => self.script(text, around, found),
                _ => found.add(
                    Finding::ask("opaque", "the script it evaluates is known only when it runs".to_owned())
                        .lasting(),
                ),
            }
            return;
        }
        if let Some(file) = operand.filter(|_| !stdin) {
            fed_script(id, file, found);
            self.path(file, Role::Read, false, around, found);
            if !check {
                found.add(
                    Finding::ask(
                        "run-script",
                        format!("{id} runs the script {}, which is not looked at here", file.shown()),
                    )
                    .lasting(),
                );
            }
            return;
        }
        match around.input.as_ref().map(Arg::literal) {
            Some(Some(text)) => {
                found.add(
                    Finding::ask(
                        "nested-shell",
                        format!("{id} is a shell in a shell; the commands can be given directly"),
                    )
                    .lasting(),
                );
                self.script(text, around, found);
            }
            Some(None) => found.add(
                Finding::ask("opaque", "the script it evaluates is known only when it runs".to_owned())
                    .lasting(),
            ),
            None if around.fed => {
                let reason = format!(
                    "{id} runs whatever it is fed; instead: save it to a file, look at it, and run that"
                );
                found.add(Finding::blocked("floor.piped-shell", reason));
            }
            None => {
                let reason = format!(
                    "{id} alone waits for a person at a terminal; instead: give the commands directly"
                );
                found.add(Finding::blocked("floor.interactive-shell", reason));
            }
        }
    }

    fn interpreter(&self, spec: &Spec, id: &str, args: &[Arg], around: &Around, found: &mut Found) {
        let given = read(spec, args);
        // Only alone: behind code or a script it is theirs.
        if given.look && args.len() == 1 {
            return;
        }
        let code = given.has(&[
            "-c",
            "-e",
            "-E",
            "-n",
            "-p",
            "-r",
            "-m",
            "--eval",
            "--print",
            "--run",
            "--command",
            "-jar",
        ]);
        if let Some(file) = given.operands.first().filter(|_| !code) {
            self.path(file, Role::Read, false, around, found);
        } else if !code && !around.fed {
            let reason =
                format!("{id} alone waits for a person at a terminal; instead: run a file, or give the code");
            found.add(Finding::blocked("floor.interactive-shell", reason));
            return;
        }
        found.add(Finding::ask("run-code", format!("{id} runs code that is not looked at here")).lasting());
    }

    fn source(&self, args: &[Arg], around: &Around, found: &mut Found) {
        if let Some(file) = args.first() {
            fed_script("source", file, found);
            self.path(file, Role::Read, false, around, found);
        }
        found.add(
            Finding::ask("run-script", "it runs a script that is not looked at here".to_owned()).lasting(),
        );
    }
}

/// What find hands on of the folders it goes through, by the tests before an action: everything, or files whose names
/// fit. Tests behind the action come too late, and one that is turned around or optional narrows nothing.
fn narrowed(starts: &[Arg], tests: &[Arg]) -> Vec<Arg> {
    let words: Vec<Option<&str>> = tests.iter().map(Arg::literal).collect();
    let loose = |word: &Option<&str>| matches!(word, Some("!" | "-not" | "-o" | "-or" | ",") | None);
    if words.iter().any(loose) {
        return starts.to_vec();
    }
    let named = words.iter().position(|word| matches!(word, Some("-name" | "-iname")));
    let name = named.and_then(|at| words.get(at + 1).copied().flatten());
    let name = name.filter(|name| name.contains(|sign| !matches!(sign, '*' | '?')));
    let tested = words.iter().any(|word| {
        matches!(
            word,
            Some(
                "-path"
                    | "-regex"
                    | "-iregex"
                    | "-mtime"
                    | "-mmin"
                    | "-size"
                    | "-empty"
                    | "-newer"
                    | "-wholename"
            )
        )
    });
    let below = |start: &Arg, pieces: Vec<Piece>, tree: bool| {
        let mut below = Arg { tree, ..start.clone() };
        below.push(Piece::Text("/".to_owned()));
        pieces.into_iter().for_each(|piece| below.push(piece));
        below
    };
    starts
        .iter()
        .map(|start| match name {
            Some(name) => {
                let sign = |sign: char| match sign {
                    '*' | '?' => Piece::Glob(sign.to_string()),
                    '[' | ']' => Piece::Glob("?".to_owned()),
                    sign => Piece::Text(sign.to_string()),
                };
                below(start, name.chars().map(sign).collect(), false)
            }
            None if tested => below(start, vec![Piece::Text("found".to_owned())], true),
            None => start.clone(),
        })
        .collect()
}

pub(super) fn moved(dirs: &Dirs, folder: &Arg) -> Dirs {
    folder.literal().map_or_else(Dirs::anywhere, |folder| dirs.moved(folder))
}

/// A script that is a descriptor holds whatever another command wrote to it.
fn fed_script(id: &str, file: &Arg, found: &mut Found) {
    let start = file.known_start();
    if start.starts_with("/dev/fd/") || start.starts_with("/dev/stdin") || start.starts_with("/proc/self/fd/")
    {
        let reason =
            format!("{id} runs whatever it is fed; instead: save it to a file, look at it, and run that");
        found.add(Finding::blocked("floor.piped-shell", reason));
    }
}

fn kill(args: &[Arg], found: &mut Found) -> bool {
    let targets: Vec<&str> = args.iter().filter_map(Arg::literal).collect();
    if matches!(targets.first(), Some(&("-l" | "-L" | "--list" | "--table"))) {
        return true;
    }
    // A number with a dash in second place is a group; the first such word is the signal.
    let mut signal_seen = false;
    for target in &targets {
        if target.starts_with('-') && !signal_seen && *target != "--" {
            signal_seen = true;
            continue;
        }
        signal_seen |= *target == "--";
        if matches!(*target, "1" | "-1" | "0" | "-0") {
            found.add(Finding::blocked("floor.kill", "it would end every process it can reach".to_owned()));
        }
    }
    if targets.as_slice() == ["-1"] {
        found.add(Finding::blocked("floor.kill", "it would end every process it can reach".to_owned()));
    }
    false
}
