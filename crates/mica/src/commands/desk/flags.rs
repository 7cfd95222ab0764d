//! Flags at the desk: those of a run that mean nothing there are refused, and never ignored; the rest is handed on to the
//! command that answers a question.

use crate::cli::desk::{self, DeskFlags};
use crate::cli::given::{Given, typed};
use crate::cli::{Form, RunFlags};

const CONVERSATION: &str = "the desk keeps conversations by name: --conversation NAME";
const RIGHTS: &str = "what may be done is up to the member: --as MEMBER, and --yes to be asked nothing";

/// Flags of a run that mean nothing at the desk, each with what to use instead.
const REFUSED: &[(&str, &str)] = &[
    ("--prompt", "put it behind `desk`: mica desk -p …"),
    ("--output", "--format json has what is said and done as data"),
    ("--show-thinking", "the desk does not show it"),
    ("--continue", CONVERSATION),
    ("--resume", CONVERSATION),
    ("--no-session", CONVERSATION),
    ("--mode", RIGHTS),
    ("--allow", RIGHTS),
    ("--pack", "the desk is a pack of its own"),
    ("--extension", "the desk has no extensions"),
];

/// Flags that say who answers.
const ASKS: &[&str] = &["--model", "--dialect", "--base-url", "--api-key-env", "--effort"];

/// Flags of a run that say how it was looked at, and not what it is: who answers a question decides that anew.
const OF_THIS_RUN: &[&str] = &["--yes", "--plain"];

/// What is wrong with how the desk was called.
pub fn problem(flags: &DeskFlags, run: &RunFlags) -> Option<String> {
    let given = run.given();
    let refused = |given: &Given| REFUSED.iter().find(|(flag, _)| *flag == given.flag);
    if let Some((flag, instead)) = given.iter().find_map(refused) {
        let flag = if *flag == "--prompt" { "--prompt before `desk`" } else { flag };
        return Some(format!("{flag} means nothing at the desk; {instead}"));
    }
    let asks = given.iter().find(|given| ASKS.contains(&given.flag));
    if let Some(Given { flag, .. }) = asks.filter(|_| flags.scripted) {
        return Some(format!("--scripted asks no model, so {flag} means nothing; leave one of them out"));
    }
    if flags.format == Form::Json && !flags.is_once() {
        return Some("--format json is for what is done once: with -p, --approve or --reject".to_owned());
    }
    if flags.say.iter().any(|line| line.trim().is_empty()) {
        return Some("-p needs something to say, or a command (/help lists them)".to_owned());
    }
    if flags.conversation.trim().is_empty() {
        return Some("--conversation needs a name".to_owned());
    }
    None
}

/// The command that is at the same desk, as the same member, in the same conversation, with the same model.
pub fn again(flags: &DeskFlags, run: &RunFlags) -> String {
    let DeskFlags {
        // What was said and answered, and for whom; the page and what is open are kept with the conversation.
        say: _,
        approve: _,
        reject: _,
        why: _,
        format: _,
        page: _,
        open: _,
        data,
        member,
        conversation,
        scripted,
        zone,
    } = flags;
    let differs = |flag, value: &String, usual: &str| (value != usual).then(|| Given::with(flag, value));
    let own = [
        data.as_ref().map(|data| Given::with("--data", data)),
        differs("--as", member, desk::MEMBER),
        differs("--conversation", conversation, desk::CONVERSATION),
        differs("--zone", zone, desk::ZONE),
        scripted.then(|| Given::alone("--scripted")),
    ];
    let own: Vec<Given> = own.into_iter().flatten().collect();
    let run = run.given();
    let run = run.iter().filter(|given| !OF_THIS_RUN.contains(&given.flag));
    format!("mica desk{}", typed(own.iter().chain(run)))
}
