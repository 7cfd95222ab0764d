//! Flags of a run that mean nothing at the desk: they are refused, and never ignored.

use crate::cli::desk::DeskFlags;
use crate::cli::{Form, RunFlags};

/// What is wrong with how the desk was called.
pub fn problem(flags: &DeskFlags, run: &RunFlags) -> Option<String> {
    let RunFlags {
        prompt,
        output,
        show_thinking,
        go_on,
        resume,
        no_session,
        model,
        dialect,
        base_url,
        api_key_env,
        effort,
        max_turns: _,
        max_cost: _,
        max_time: _,
        mode,
        pack,
        allow,
        yes: _,
        plain: _,
        extension,
        directory: _,
    } = run;
    let conversation = "the desk keeps conversations by name: --conversation NAME";
    let rights = "what may be done is up to the member: --as MEMBER, and --yes to be asked nothing";
    let unused = [
        (prompt.is_some(), "--prompt before `desk`", "put it behind: mica desk -p …"),
        (output.is_some(), "--output", "--format json has what is said and done as data"),
        (*show_thinking, "--show-thinking", "the desk does not show it"),
        (*go_on, "--continue", conversation),
        (resume.is_some(), "--resume", conversation),
        (*no_session, "--no-session", conversation),
        (mode.is_some(), "--mode", rights),
        (!allow.is_empty(), "--allow", rights),
        (pack.is_some(), "--pack", "the desk is a pack of its own"),
        (!extension.is_empty(), "--extension", "the desk has no extensions"),
    ];
    if let Some((_, flag, instead)) = unused.iter().find(|(is_given, ..)| *is_given) {
        return Some(format!("{flag} means nothing at the desk; {instead}"));
    }
    let asks = [
        (model.is_some(), "--model"),
        (dialect.is_some(), "--dialect"),
        (base_url.is_some(), "--base-url"),
        (api_key_env.is_some(), "--api-key-env"),
        (effort.is_some(), "--effort"),
    ];
    if let Some((_, flag)) = asks.iter().find(|(is_given, _)| *is_given && flags.scripted) {
        return Some(format!("--scripted asks no model, so {flag} means nothing; leave one of them out"));
    }
    if flags.format == Form::Json && !flags.is_once() {
        return Some("--format json is for what is done once: with -p, --approve or --reject".to_owned());
    }
    if flags.conversation.trim().is_empty() {
        return Some("--conversation needs a name".to_owned());
    }
    None
}
