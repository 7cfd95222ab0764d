//! The gate that goes by the mode.

use async_trait::async_trait;
use mica_agent::hooks::Gated;
use mica_agent::{Context, Hooks, Verdict};

use super::{ModeSwitch, ModeTable, PlanFolder};

/// Judges every call by the mode at that moment.
#[derive(Debug, Clone)]
pub struct ModeGate {
    switch: ModeSwitch,
    table: ModeTable,
    folder: Option<PlanFolder>,
}

impl ModeGate {
    /// A gate that looks at this switch. Without a plan folder, plan mode writes nothing.
    pub fn new(switch: ModeSwitch, table: ModeTable, folder: Option<PlanFolder>) -> Self {
        Self { switch, table, folder }
    }
}

#[async_trait]
impl Hooks for ModeGate {
    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        self.table.judge(self.switch.get(), gated.spec, &gated.args, self.folder.as_ref())
    }
}
