//! The events that commands can be hooked to, by the names that agents share.

use mica_agent::nearest::nearest;

/// Something that commands can be hooked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HookEvent {
    /// A tool is about to be called.
    PreToolUse,
    /// A person is about to be asked whether a call may run.
    PermissionRequest,
    /// A tool was called, and it worked.
    PostToolUse,
    /// A tool was called, and it failed.
    PostToolUseFailure,
    /// A person said something.
    UserPromptSubmit,
    /// A session begins, is resumed, or was shortened.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// The model is done.
    Stop,
    /// A subagent begins.
    SubagentStart,
    /// A subagent has ended.
    SubagentStop,
    /// The conversation is about to be shortened.
    PreCompact,
    /// The conversation was shortened.
    PostCompact,
    /// A person should know something.
    Notification,
}

/// What a matcher of an event is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matched {
    /// The name of the tool.
    Tool,
    /// A word of the payload, under this name.
    Word(&'static str),
    /// Nothing: matchers say nothing here.
    Nothing,
}

/// Events of other agents that have no counterpart here. Files that are shared with them may name them.
const FOREIGN: [&str; 22] = [
    "ConfigChange",
    "CwdChanged",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "InstructionsLoaded",
    "Interrupt",
    "MessageDisplay",
    "PermissionDenied",
    "PostToolBatch",
    "Setup",
    "StopFailure",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "UserPromptExpansion",
    "WorktreeCreate",
    "WorktreeRemove",
    "afterFileEdit",
    "beforeReadFile",
    "beforeShellExecution",
    "errorOccurred",
];

/// What a name in a file stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// An event.
    Known(HookEvent),
    /// An event of another agent.
    Foreign,
    /// None; with the one that was probably meant.
    Unknown(Option<HookEvent>),
}

impl HookEvent {
    /// All of them.
    pub const ALL: [HookEvent; 13] = [
        HookEvent::PreToolUse,
        HookEvent::PermissionRequest,
        HookEvent::PostToolUse,
        HookEvent::PostToolUseFailure,
        HookEvent::UserPromptSubmit,
        HookEvent::SessionStart,
        HookEvent::SessionEnd,
        HookEvent::Stop,
        HookEvent::SubagentStart,
        HookEvent::SubagentStop,
        HookEvent::PreCompact,
        HookEvent::PostCompact,
        HookEvent::Notification,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            HookEvent::PreToolUse => "PreToolUse",
            HookEvent::PermissionRequest => "PermissionRequest",
            HookEvent::PostToolUse => "PostToolUse",
            HookEvent::PostToolUseFailure => "PostToolUseFailure",
            HookEvent::UserPromptSubmit => "UserPromptSubmit",
            HookEvent::SessionStart => "SessionStart",
            HookEvent::SessionEnd => "SessionEnd",
            HookEvent::Stop => "Stop",
            HookEvent::SubagentStart => "SubagentStart",
            HookEvent::SubagentStop => "SubagentStop",
            HookEvent::PreCompact => "PreCompact",
            HookEvent::PostCompact => "PostCompact",
            HookEvent::Notification => "Notification",
        }
    }

    /// What a name stands for. Letter case and separators make no difference: some agents write `preToolUse`.
    pub fn named(name: &str) -> Named {
        let folded = fold(name);
        if let Some(event) = Self::ALL.into_iter().find(|event| fold(event.name()) == folded) {
            return Named::Known(event);
        }
        if FOREIGN.iter().any(|foreign| fold(foreign) == folded) {
            return Named::Foreign;
        }
        let near = nearest(name, Self::ALL.iter().map(|event| event.name()));
        Named::Unknown(Self::ALL.into_iter().find(|event| Some(event.name()) == near))
    }

    /// What its matchers are held against.
    pub fn matched(self) -> Matched {
        match self {
            HookEvent::PreToolUse
            | HookEvent::PermissionRequest
            | HookEvent::PostToolUse
            | HookEvent::PostToolUseFailure => Matched::Tool,
            HookEvent::SessionStart => Matched::Word("source"),
            HookEvent::SessionEnd => Matched::Word("reason"),
            HookEvent::PreCompact | HookEvent::PostCompact => Matched::Word("trigger"),
            HookEvent::Notification => Matched::Word("notification_type"),
            HookEvent::SubagentStart | HookEvent::SubagentStop => Matched::Word("agent_type"),
            HookEvent::UserPromptSubmit | HookEvent::Stop => Matched::Nothing,
        }
    }

    /// Whether what a command prints without being asked for JSON is something to tell the model.
    pub fn takes_plain_text(self) -> bool {
        matches!(self, HookEvent::UserPromptSubmit | HookEvent::SessionStart)
    }

    /// Whether what happens can still be held up.
    pub fn can_block(self) -> bool {
        matches!(
            self,
            HookEvent::PreToolUse
                | HookEvent::PermissionRequest
                | HookEvent::PostToolUse
                | HookEvent::PostToolUseFailure
                | HookEvent::UserPromptSubmit
                | HookEvent::Stop
        )
    }
}

impl std::fmt::Display for HookEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

fn fold(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_agents_write_them() {
        for event in HookEvent::ALL {
            assert_eq!(HookEvent::named(event.name()), Named::Known(event));
        }
        for (written, expect) in [
            ("preToolUse", Named::Known(HookEvent::PreToolUse)),
            ("pre_tool_use", Named::Known(HookEvent::PreToolUse)),
            ("PreToolUsee", Named::Unknown(Some(HookEvent::PreToolUse))),
            ("PreTolUse", Named::Unknown(Some(HookEvent::PreToolUse))),
            ("SesionStart", Named::Unknown(Some(HookEvent::SessionStart))),
            ("WorktreeCreate", Named::Foreign),
            ("Whatever", Named::Unknown(None)),
        ] {
            assert_eq!(HookEvent::named(written), expect, "{written}");
        }
    }
}
