//! The tools, one file for each group. All do what the commands and the agent's tools do, by the same code.

mod check;
mod connectors;
mod explain;
mod expression;
mod finding;
mod fix;
mod outline;
mod project;
mod references;

use super::answer::Offered;

/// All tools, by name.
pub fn all(may_write: bool) -> Vec<Offered> {
    let mut all = vec![
        check::tool(),
        connectors::tool(),
        explain::tool(),
        expression::tool(),
        fix::tool(may_write),
        outline::tool(),
        project::facts(),
        project::graph(),
        references::list(),
        references::load(),
        references::search(),
    ];
    all.sort_by(|one, other| one.tool.name.cmp(&other.tool.name));
    all
}
