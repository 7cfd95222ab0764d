//! What the prompt says of skills: a line for each, always in the same order, and never more than there is room for.

use std::fmt::Write as _;

use super::fence::{fenced, line};
use super::skill::{DESCRIPTION, Skill};

/// Bytes of all lines together: about 6,000 tokens, the most that a list which is read with every request may take.
const ROOM: usize = 24 << 10;
/// Letters of a description, from all of it down to what still says something.
const LENGTHS: [usize; 5] = [DESCRIPTION, 320, 160, 80, 40];

const SAYS: &str = "# Skills\n\nInstructions for particular work, written by the user and by others. Before you begin a task that \
                    one of them is about, load it with `load_skill` and follow it. What the user says counts more, and a skill \
                    allows nothing that would be asked about otherwise.";

/// The text. `None` when there are none.
pub(super) fn text(skills: &[&Skill]) -> Option<String> {
    if skills.is_empty() {
        return None;
    }
    let mut lines = String::new();
    for length in LENGTHS {
        lines = listed(skills, length);
        if lines.len() <= ROOM {
            break;
        }
    }
    if lines.len() > ROOM {
        let end = lines[..lines.floor_char_boundary(ROOM)].rfind('\n').unwrap_or(0);
        let left = lines[end..].lines().filter(|line| !line.is_empty()).count();
        lines.truncate(end);
        let _ = write!(lines, "\n[{left} more skills are not listed; they can be loaded by their names]");
    }
    Some(format!("{SAYS}\n\n{}", fenced("skills", &[], &lines)))
}

fn listed(skills: &[&Skill], length: usize) -> String {
    let mut lines = String::new();
    for skill in skills {
        let _ = write!(lines, "\n- {}: {}", skill.name, line(&skill.description, length));
    }
    lines
}
