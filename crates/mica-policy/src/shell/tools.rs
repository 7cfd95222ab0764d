//! Tools with a language or an order of arguments of their own: `sed`, `awk`, `grep`, `tar`, `dd`, `git`.

use super::judge::{Around, Found, Judging};
use super::options::read;
use super::sed::{awk_is_plain, sed_is_plain};
use super::spec::{Effect, Role, Spec};
use super::special::moved;
use super::word::Arg;
use super::{Class, Finding};

impl Judging<'_> {
    pub(super) fn sed(&self, spec: &Spec, args: &[Arg], around: &Around, found: &mut Found) -> bool {
        let given = read(spec, args);
        if given.look {
            return true;
        }
        let mut operands = given.operands.iter();
        let mut scripts: Vec<&Arg> = given
            .options
            .iter()
            .filter(|(name, _)| matches!(name.as_str(), "-e" | "--expression"))
            .filter_map(|(_, value)| value.as_ref())
            .collect();
        if given.has(&["-f", "--file"]) {
            found.add(
                Finding::ask("sed", "sed runs a script of a file, which may run commands".to_owned())
                    .lasting(),
            );
        } else if scripts.is_empty() {
            scripts.extend(operands.next());
        }
        for script in scripts {
            if !script.literal().is_some_and(sed_is_plain) {
                let reason = "sed can run commands and write files, and this script may".to_owned();
                found.add(Finding::ask("sed", reason).lasting());
            }
        }
        let in_place = given.has(&["-i", "--in-place"]);
        for file in operands {
            self.path(file, if in_place { Role::Write } else { Role::Read }, false, around, found);
            if in_place {
                found.findings.iter_mut().for_each(|finding| finding.coverable = false);
            }
        }
        if given.open {
            found.add(
                Finding::ask(
                    "dynamic-argument",
                    "sed is given words that are known only when it runs".to_owned(),
                )
                .lasting(),
            );
        }
        true
    }

    pub(super) fn grep(
        &self,
        skips_hidden: bool,
        spec: &Spec,
        id: &str,
        args: &[Arg],
        around: &Around,
        found: &mut Found,
    ) {
        let given = read(spec, args);
        for (effect, because) in &given.effects {
            self.effect(*effect, id, because, "", found);
        }
        for (role, file) in &given.files {
            self.path(file, *role, false, around, found);
        }
        if given.open {
            let reason = format!("{id} is given words that are known only when it runs");
            found.add(Finding::ask("dynamic-argument", reason).looking());
        }
        let by_option = given.has(&["-e", "--regexp", "-f", "--file", "--files", "--type-list"]);
        let files = given.operands.get(usize::from(!by_option)..).unwrap_or(&[]);
        // What is left out or let in by name is not looked at by those names.
        let chosen = given.has(&["--include", "-g", "--glob", "-t", "--type"])
            || given
                .value(&["--exclude"])
                .and_then(Arg::literal)
                .is_some_and(|name| name.starts_with(".env"));
        let unrestricted =
            given.options.iter().filter(|(name, _)| name == "-u" || name == "--unrestricted").count();
        let hidden = given.has(&["--hidden", "-.", "--no-ignore"]) || unrestricted > 1;
        let tree = if skips_hidden { hidden && !chosen } else { given.tree && !chosen };
        for file in files {
            self.path(file, Role::Read, tree, around, found);
        }
        if files.is_empty() && tree && (!around.fed || given.tree) {
            self.path(&Arg::known("."), Role::Read, true, around, found);
        }
    }

    pub(super) fn awk(&self, spec: &Spec, args: &[Arg], found: &mut Found) -> bool {
        let given = read(spec, args);
        if given.look {
            return true;
        }
        let file = given.has(&["-f", "--file", "-i", "--include", "-l", "--load", "-E", "--exec"]);
        let program = given.operands.first().and_then(Arg::literal);
        if file || !program.is_some_and(awk_is_plain) {
            let reason = "awk can run commands and write files, and this program may".to_owned();
            found.add(Finding::ask("awk", reason).lasting());
        }
        false
    }

    pub(super) fn tar(&self, spec: &Spec, args: &[Arg], around: &Around, found: &mut Found) {
        // The old form has its letters without a dash.
        let mut args = args.to_vec();
        if let Some(first) = args.first_mut()
            && let Some(text) = first
                .literal()
                .filter(|text| !text.starts_with('-') && text.chars().all(|sign| sign.is_ascii_alphabetic()))
        {
            *first = Arg::known(format!("-{text}"));
        }
        let given = read(spec, &args);
        for (effect, because) in &given.effects {
            self.effect(*effect, "tar", because, "", found);
        }
        let archive = given.value(&["-f", "--file"]);
        let mut there = around.clone();
        if let Some(folder) = given.value(&["-C", "--directory"]) {
            there.dirs = moved(&there.dirs, folder);
        }
        if given.has(&["-t", "--list"]) {
            archive.into_iter().for_each(|file| self.path(file, Role::Read, false, around, found));
        } else if given.has(&["-x", "--extract", "--get"]) {
            archive.into_iter().for_each(|file| self.path(file, Role::Read, false, around, found));
            if given.has(&["-P", "--absolute-names"]) {
                found.add(Finding::blocked(
                    "floor.write-outside",
                    "tar -P unpacks to wherever the archive says".to_owned(),
                ));
            }
            self.path(&Arg::known("./unpacked"), Role::Write, false, &there, found);
            found.add(Finding::ask("tar", "tar unpacks files over what is there".to_owned()).lasting());
        } else {
            archive.into_iter().for_each(|file| self.path(file, Role::Write, false, around, found));
            for file in &given.operands {
                self.path(file, Role::Read, true, &there, found);
            }
            if given.has(&["--remove-files"]) {
                found.add(Finding::ask("tar", "tar deletes what it has packed".to_owned()).destructive());
            }
        }
        if given.open {
            found.add(
                Finding::ask(
                    "dynamic-argument",
                    "tar is given words that are known only when it runs".to_owned(),
                )
                .lasting(),
            );
        }
    }

    pub(super) fn dd(&self, args: &[Arg], around: &Around, found: &mut Found) {
        let mut writes = false;
        for arg in args {
            let start = arg.known_start();
            if start.starts_with("of=") {
                writes = true;
                self.path(&arg.after(3), Role::Write, false, around, found);
            } else if start.starts_with("if=") {
                self.path(&arg.after(3), Role::Read, false, around, found);
            } else if arg.is_open() {
                found.add(
                    Finding::ask(
                        "dynamic-argument",
                        "dd is given words that are known only when it runs".to_owned(),
                    )
                    .lasting(),
                );
            }
        }
        if writes {
            found.findings.iter_mut().for_each(|finding| {
                finding.coverable = false;
                finding.destructive |= finding.class == Class::Ask;
            });
        }
    }

    pub(super) fn git(&self, spec: &Spec, args: &[Arg], around: &Around, found: &mut Found) {
        let given = read(spec, args);
        let mut around = around.clone();
        for (name, value) in &given.options {
            let Some(value) = value else { continue };
            match name.as_str() {
                "-C" | "--work-tree" => around.dirs = moved(&around.dirs, value),
                "--git-dir" => {
                    let plain = value.literal().is_some_and(|dir| dir == ".git" || dir == "./.git");
                    if !plain {
                        found.add(
                            Finding::ask(
                                "git --git-dir",
                                "git would use the settings of another folder, which may run commands"
                                    .to_owned(),
                            )
                            .lasting(),
                        );
                    }
                }
                "-c" | "--config-env" => {
                    let key = value.known_start().split('=').next().unwrap_or("").to_ascii_lowercase();
                    let harmless = [
                        "color.",
                        "core.quotepath",
                        "core.abbrev",
                        "log.",
                        "user.name",
                        "user.email",
                        "advice.",
                        "column.",
                        "diff.renames",
                        "status.",
                        "init.defaultbranch",
                    ];
                    if name == "--config-env"
                        || key.is_empty()
                        || !harmless.iter().any(|known| key.starts_with(known))
                    {
                        found.add(
                            Finding::ask("git -c", format!("the setting {key} can make git run commands"))
                                .lasting(),
                        );
                    }
                }
                _ => {}
            }
        }
        let from = found.findings.len();
        for operand in given.operands.iter().skip(1) {
            // `HEAD:.env` is a file, too.
            if let Some((_, path)) = operand
                .literal()
                .and_then(|text| text.rsplit_once(':'))
                .filter(|(before, _)| !before.contains('/'))
            {
                self.path(&Arg::known(path), Role::List, false, &around, found);
            }
        }
        let pushes = given.operands.first().and_then(Arg::literal) == Some("push");
        // `+main` overwrites what is there, `:main` deletes it.
        if pushes && given.operands.iter().any(|operand| operand.known_start().starts_with(['+', ':'])) {
            found.add(
                Finding::ask("git push", "git push overwrites or deletes what is there".to_owned())
                    .destructive(),
            );
        }
        self.given(spec, "git", &given, &around, found);
        let changes =
            found.findings.iter().skip(from).any(|finding| finding.class == Class::Ask && !finding.looking);
        let elsewhere = around.dirs.known.iter().find(|dir| !self.is_ours(dir));
        if let Some(dir) = elsewhere.filter(|_| changes) {
            found.add(Finding::blocked(
                "floor.write-outside",
                format!("git would change {dir}, which is outside the project"),
            ));
        }
    }

    pub(super) fn git_config(&self, spec: &Spec, id: &str, args: &[Arg], found: &mut Found) {
        let given = read(spec, args);
        let operands: Vec<&str> = given.operands.iter().filter_map(Arg::literal).collect();
        let listed = given.look || matches!(operands.first(), Some(&("list" | "get")));
        if listed
            || (given.operands.len() == 1
                && !given.has(&[
                    "--unset",
                    "--unset-all",
                    "-e",
                    "--edit",
                    "--remove-section",
                    "--rename-section",
                    "--add",
                    "--replace-all",
                ]))
        {
            return;
        }
        let key = operands
            .iter()
            .find(|word| word.contains('.'))
            .map(|key| key.to_ascii_lowercase())
            .unwrap_or_default();
        let names_only = ["user.name", "user.email"].contains(&key.as_str()) || key.starts_with("color.");
        if names_only && !given.has(&["--global", "--system", "--file", "-f"]) {
            self.effect(Effect::Change, id, "changes the settings of the repository", "", found);
            found.findings.iter_mut().for_each(|finding| finding.coverable = false);
            return;
        }
        let reason = "git config changes settings that decide what git runs later".to_owned();
        found.add(Finding::blocked("floor.vcs-config", reason));
    }
}
