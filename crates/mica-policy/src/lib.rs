//! Pure decisions: may this happen, and why.
//!
//! It must not know: the clock, disks, networks, models, the environment. Every decision is a function of what it is
//! given; thin [`Hooks`](mica_agent::Hooks) bring the decisions into the loop, and every refusal names its rule.
//!
//! Its nouns: a [`Schema`] judges arguments, [`Limits`] end a run, [`Patience`] ends circles, a [`Mode`] says how much a
//! run may do, a [`RuleSet`] has the answers that were given beforehand, [`Approvals`] those that people gave and want
//! remembered, [`Places`] are names that matter wherever they turn up, and [`shell::judge`] makes a verdict of a shell
//! command.
//!
//! The order matters. Arguments are put right first, so that everything behind judges what will run; the budget comes
//! last, so that nothing cuts off its warning.
//!
//! ```
//! use std::sync::Arc;
//!
//! use mica_agent::HookStack;
//! use mica_policy::{
//!     Action, Budget, Headless, Limits, Mode, ModeGate, ModeSwitch, ModeTable, Patience, RepeatGuard, RuleGate,
//!     RuleSet, SchemaGate, Subjects,
//! };
//!
//! let switch = ModeSwitch::new(Mode::Edit);
//! let polls = RuleSet::default().and(Action::Allow, "task_status")?;
//! let rules = RuleSet::new(Subjects::new().path("file_write", "path"))
//!     .and(Action::Allow, "file_write(src/**)")?
//!     .and(Action::Deny, "file_write(src/generated/**)")?;
//! let hooks = HookStack::new(vec![
//!     Arc::new(SchemaGate::new()),
//!     Arc::new(RepeatGuard::new(Patience::default(), polls.clone())),
//!     Arc::new(ModeGate::new(switch.clone(), ModeTable::builtin(), None)),
//!     Arc::new(RuleGate::new(rules)),
//!     Arc::new(Headless),
//!     Arc::new(Budget::new(Limits::default(), polls)),
//! ]);
//! # drop(hooks);
//! // At any time, from anywhere:
//! switch.set(Mode::Ask);
//! # Ok::<(), mica_policy::rules::BadRule>(())
//! ```

pub mod approvals;
pub mod budget;
mod glob;
pub mod mode;
pub mod places;
pub mod repeats;
pub mod rules;
pub mod shell;
pub mod validate;

pub use approvals::{Approvals, FileGate};
pub use budget::{Budget, Limits};
pub use mode::{Mode, ModeGate, ModeSwitch, ModeTable, PlanFolder};
pub use places::Places;
pub use repeats::{Patience, RepeatGuard};
pub use rules::{Action, Headless, Rule, RuleGate, RuleSet, Subjects};
pub use validate::{Schema, SchemaGate, check_tools};
