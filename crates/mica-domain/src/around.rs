//! Tools around other tools: what the one around says as the one within does.

use std::sync::Arc;

use mica_agent::{Tool, ToolSet};

/// A set with something around each of its tools.
pub(crate) fn each(tools: &ToolSet, around: impl Fn(&Arc<dyn Tool>) -> Arc<dyn Tool>) -> ToolSet {
    let mut set = ToolSet::default();
    for tool in tools.iter() {
        set.add(around(tool));
    }
    set
}

/// The parts of a [`Tool`](mica_agent::Tool) that a tool around another one, in its field `inner`, leaves to that.
macro_rules! as_within {
    () => {
        fn spec(&self) -> &mica_agent::ToolSpec {
            self.inner.spec()
        }

        fn access(&self, args: &mica_agent::Args) -> mica_agent::Access {
            self.inner.access(args)
        }

        fn touches(&self, args: &mica_agent::Args) -> Vec<mica_agent::Resource> {
            self.inner.touches(args)
        }

        fn stands_for(
            &self,
            args: &mica_agent::Args,
        ) -> Option<Result<(String, mica_agent::Args), mica_agent::ToolError>> {
            self.inner.stands_for(args)
        }
    };
}

pub(crate) use as_within;
