//! How a command ended, in words for the model, and in facts for user interfaces.

use mica_sandbox::denial::Denial;
use mica_sandbox::{How, Limit, Tier};
use serde_json::{Value, json};

use super::ShellSettings;
use super::run::{Done, Job};
use crate::tasks::Ending;

/// Letters of a title. What fits in a line of a list.
const TITLE: usize = 60;

/// Signals that people have names for, and what they mean.
const SIGNALS: [(i32, &str); 9] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (4, "SIGILL: an instruction that this machine does not have"),
    (6, "SIGABRT: it gave up"),
    (8, "SIGFPE: it divided by zero"),
    (9, "SIGKILL: it was killed, perhaps for want of memory"),
    (11, "SIGSEGV: it crashed"),
    (13, "SIGPIPE: nobody read what it wrote"),
    (15, "SIGTERM: it was asked to end"),
];

/// What a person sees of a task: what it is for, or how it begins.
pub(super) fn title(description: Option<&str>, command: &str) -> String {
    let text = description.map(str::trim).filter(|text| !text.is_empty()).unwrap_or(command);
    let line = text.trim().lines().next().unwrap_or_default();
    if line.chars().count() <= TITLE {
        return line.to_owned();
    }
    line.chars().take(TITLE - 1).chain(['…']).collect()
}

/// Everything the model should know about how a command ended.
pub(super) fn notes(done: &Done, job: &Job, settings: &ShellSettings) -> Vec<String> {
    let mut notes = remarks(done, job, settings);
    if done.shell != "bash" {
        notes.push(format!("there is no bash here, so {} ran it", done.shell));
    }
    notes.push(status(done, job, settings));
    notes
}

fn status(done: &Done, job: &Job, settings: &ShellSettings) -> String {
    let seconds = done.ended.elapsed.as_secs_f32();
    match done.ended.how {
        How::Exited(code) => format!("exit code {code}{} after {seconds:.1} s", meaning(code)),
        How::Signalled(signal) => format!("ended by signal {}, after {seconds:.1} s", named(signal)),
        How::Limit(Limit::Wall) => {
            let more = if job.wall < settings.longest {
                format!(
                    " Ask for more time with timeout_seconds (at most {}), or",
                    settings.longest.as_secs()
                )
            } else {
                " For more time,".to_owned()
            };
            format!(
                "stopped: its time of {} s was up. What it printed until then is above, and what it did stays done.{more} \
                 run it with background: true",
                job.wall.as_secs()
            )
        }
        How::Limit(Limit::Cpu) => {
            format!("stopped: a process used up its processor time, after {seconds:.1} s")
        }
        How::Limit(Limit::FileSize) => {
            format!("stopped: a file it wrote became too large, after {seconds:.1} s")
        }
        How::Cancelled => {
            format!("stopped from outside after {seconds:.1} s; what it did until then stays done")
        }
        How::Lost => "its end was not seen: it was ended from outside, with everything it started".to_owned(),
    }
}

/// What a shell means by some codes.
fn meaning(code: i32) -> String {
    match code {
        126 => " (it is there and cannot be run)".to_owned(),
        127 => " (there is no such command)".to_owned(),
        129..=192 => format!(" (a part of it was ended by signal {})", named(code - 128)),
        _ => String::new(),
    }
}

fn named(signal: i32) -> String {
    match SIGNALS.iter().find(|(number, _)| *number == signal) {
        Some((_, name)) => format!("{signal} ({name})"),
        None => signal.to_string(),
    }
}

/// What the sandbox has to say of it.
pub(super) fn remarks(done: &Done, job: &Job, settings: &ShellSettings) -> Vec<String> {
    let mut remarks = denials(done, job, settings);
    remarks.extend(done.ended.notices.iter().map(ToString::to_string));
    remarks.extend(done.note.clone());
    remarks
}

/// What the sandbox did not let it do, and what would help.
fn denials(done: &Done, job: &Job, settings: &ShellSettings) -> Vec<String> {
    let tier = done.ended.tier;
    done.ended.denials.iter().map(|denial| explained(denial, tier, job, settings)).collect()
}

fn explained(denial: &Denial, tier: Tier, job: &Job, settings: &ShellSettings) -> String {
    let (what, help) = match denial {
        Denial::Write { path } if job.looks => (
            format!("write {}", path.display()),
            "It was judged to only look, so nothing but $TMPDIR was writable.".to_owned(),
        ),
        Denial::Write { path } => (
            format!("write {}", path.display()),
            "Write inside the project or in $TMPDIR; the user can make more folders writable with the setting \
             shell.write."
                .to_owned(),
        ),
        Denial::Read { path } => (
            format!("read {}", path.display()),
            "Secrets and folders that everybody shares are hidden from commands. Go on without it, or ask the user for \
             what you need."
                .to_owned(),
        ),
        Denial::Network { host } => {
            let host = host.as_deref().unwrap_or("the network");
            let help = if job.hosts.is_empty() && settings.hosts.is_empty() {
                "There is none unless `network` names the hosts; the user is asked then."
            } else {
                "Only the hosts that were granted can be reached, through the proxy that the environment names."
            };
            (format!("reach {host}"), help.to_owned())
        }
        Denial::Call => (
            "make a system call that it does not allow".to_owned(),
            "The program cannot run in a sandbox; ask the user to run it.".to_owned(),
        ),
    };
    format!("the sandbox (tier {tier}) did not let it {what}. {help}")
}

/// The end of a task.
pub(super) fn ending(done: &Done) -> Ending {
    let how = done.ended.how;
    match how {
        How::Exited(0) => Ending::Done(how.to_string()),
        How::Cancelled => Ending::Stopped(how.to_string()),
        How::Lost => Ending::Lost,
        How::Signalled(signal) => Ending::Failed(format!("was ended by signal {}", named(signal))),
        How::Exited(_) | How::Limit(_) => Ending::Failed(how.to_string()),
    }
}

/// What user interfaces and logs get.
pub(super) fn details(done: &Done, job: &Job) -> Value {
    let code = match done.ended.how {
        How::Exited(code) => Some(code),
        _ => None,
    };
    json!({
        "command": job.command,
        "cwd": job.folder,
        "exit_code": code,
        "how": done.ended.how,
        "milliseconds": u64::try_from(done.ended.elapsed.as_millis()).unwrap_or(u64::MAX),
        "tier": done.ended.tier,
        "read_only": job.looks,
        "denials": done.ended.denials,
        "notices": done.ended.notices,
        "network": done.ended.network,
    })
}

#[cfg(test)]
mod tests;
