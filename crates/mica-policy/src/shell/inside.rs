//! Whether a command stays in the project, as far as its words say. What was approved there was approved for the code that
//! is there, and not for a build of the same name in a folder where anybody can put one.

use super::facts::{ShellFacts, is_below, tidied};
use super::state::Dirs;
use super::word::Arg;

/// Whether a command runs in the project, and no word of it leads out of it: a path, or another machine.
pub(super) fn stays(argv: &[Arg], dirs: &Dirs, facts: &ShellFacts<'_>) -> bool {
    if dirs.unknown || dirs.known.is_empty() || !dirs.known.iter().all(|dir| is_inside(dir, facts)) {
        return false;
    }
    let words = argv.get(1..).unwrap_or(&[]);
    // Words that are not known are asked about for that alone.
    words.iter().filter_map(Arg::literal).all(|word| word_stays(word, dirs, facts))
}

fn word_stays(word: &str, dirs: &Dirs, facts: &ShellFacts<'_>) -> bool {
    let machine = word.split_once(':').is_some_and(|(host, _)| host.contains('@') && !host.contains('/'));
    if machine || word.contains("://") {
        return false;
    }
    // `--file=x`, `-Dfile=x`, `a:b`, `a,b`, and `-Cx`.
    word.split(['=', ':', ',']).all(|piece| {
        if !piece.starts_with('-') {
            return leads_inside(piece, dirs, facts);
        }
        let is_long = piece.starts_with("--");
        // How many letters the option has is not known here, so what looks like a path counts wherever it begins.
        let path = piece.find(['/', '~']).and_then(|at| piece.get(at..));
        let glued = piece.char_indices().nth(2).and_then(|(at, _)| piece.get(at..)).filter(|_| !is_long);
        [path, glued].into_iter().flatten().all(|path| leads_inside(path, dirs, facts))
            && (is_long || !piece.ends_with(".."))
    })
}

/// Whether a word is inside, if it is a path: any word may be the name of a folder, and of a link that leads elsewhere.
fn leads_inside(path: &str, dirs: &Dirs, facts: &ShellFacts<'_>) -> bool {
    if path.starts_with('~') {
        return false;
    }
    if path.starts_with('/') {
        return is_inside(&tidied(path), facts);
    }
    dirs.known.iter().all(|dir| is_inside(&tidied(&format!("{dir}/{path}")), facts))
}

fn is_inside(path: &str, facts: &ShellFacts<'_>) -> bool {
    let real = facts.disk.real(path).map(|real| tidied(&real));
    is_below(path, facts.root) && real.is_none_or(|real| is_below(&real, facts.root))
}
