//! Calls that are a person's to answer: who allows everything beforehand has not read the plan.
//!
//! Invariant: no pattern of tools allows such a call, `*` and `--yes` included. A rule that names the tool does.

/// Leaves plan mode, which a person may have chosen.
const EXIT: &str = "exit_plan_mode";

/// Enters it.
const ENTER: &str = "enter_plan_mode";

/// Whether only a rule that names this very tool allows it.
pub(super) fn is_for(tool: &str) -> bool {
    tool == EXIT || tool == ENTER
}

/// What a model is told that would begin what only a person can end, in a run where everything is allowed so that nobody
/// needs to be there.
pub(super) fn instead(tool: &str) -> Option<&'static str> {
    (tool == ENTER).then_some(
        "The mode stays as it is: calls are allowed beforehand in this run, and only a person can agree to a plan. Say in a \
         few words what you intend, and go on as far as the mode lets you.",
    )
}
