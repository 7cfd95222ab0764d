//! Files, by Landlock: rules allow, nothing denies, so what is hidden is left out by naming everything around it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, NetPort, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use super::Stop;
use crate::plan::{Plan, Reachable};
use crate::tier::Tier;

/// The newest interface whose rights are asked for. What the kernel does not have is left out, and the report says so.
const NEWEST: ABI = ABI::V9;

/// Devices that are everybody's, and harmless.
pub(crate) const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// Devices that exist only in mounts of its own.
pub(crate) const PRIVATE_DEVICES: [&str; 3] = ["/dev/shm", "/dev/pts", "/dev/ptmx"];

/// What may be touched. Holds for nobody yet.
pub(crate) struct Rules {
    ruleset: RulesetCreated,
    /// Folders that were looked into, because something in them is hidden.
    pub(crate) around: Vec<PathBuf>,
}

/// The rules of a plan.
pub(crate) fn rules(plan: &Plan) -> Result<Rules, Stop> {
    ruleset(plan).map_err(|error| Stop::new("Landlock", error))
}

impl Rules {
    /// Confines this process and all it starts.
    pub(crate) fn confine(&self) -> Result<(), Stop> {
        let ruleset = self.ruleset.try_clone().map_err(Stop::at("Landlock"))?;
        let status = ruleset.restrict_self().map_err(|error| Stop::new("Landlock", error))?;
        if status.ruleset == RulesetStatus::NotEnforced {
            return Err(Stop::new("Landlock", "the kernel has none, or it is switched off"));
        }
        Ok(())
    }
}

fn ruleset(plan: &Plan) -> Result<Rules, RulesetError> {
    let all = AccessFs::from_all(NEWEST);
    let read = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::Execute;
    // Nobody needs device nodes, and commands to devices go to those that are named.
    let write = all & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev);
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;

    let mut ruleset = Ruleset::default().handle_access(all)?.scope(Scope::from_all(NEWEST))?;
    // A network namespace of its own needs no rules about ports.
    let ports = plan.tier == Tier::Landlock && plan.network != Reachable::Everything;
    if ports {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let mut ruleset = ruleset.create()?;
    if let (true, Reachable::Port(port)) = (ports, plan.network) {
        ruleset = ruleset.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
    }

    let private = plan.tier == Tier::Namespaces;
    let mut holes: Vec<PathBuf> = plan.hidden.iter().filter(|path| needs_hole(path)).cloned().collect();
    holes.push(PathBuf::from("/dev"));
    if !private {
        holes.extend(plan.shared.iter().cloned());
    }
    let (mut whole, mut partly) = (Vec::new(), Vec::new());
    for root in &plan.readable {
        // A root that was named inside a shared folder is not cut out by that folder.
        let holes: Vec<&PathBuf> = holes.iter().filter(|hole| !root.starts_with(hole)).collect();
        expand(root, &holes, &mut whole, &mut partly);
    }
    let hidden: Vec<&PathBuf> = plan.hidden.iter().collect();
    let (mut writable, mut around) = (Vec::new(), Vec::new());
    for root in &plan.writable {
        // With mounts, what is hidden is covered, again and again if need be: a hole would make everything new beside it
        // unwritable. Without, a folder that has it inside is writable piece by piece.
        expand(root, if private { &[] } else { &hidden }, &mut writable, &mut around);
    }
    for path in &whole {
        ruleset = allow(ruleset, path, read)?;
    }
    for path in &writable {
        ruleset = allow(ruleset, path, write)?;
    }
    if private {
        // What is hidden is covered, so the folders around it can be listed.
        for path in &partly {
            ruleset = allow(ruleset, path, AccessFs::ReadDir.into())?;
        }
        for path in &plan.shared {
            ruleset = allow(ruleset, path, write)?;
        }
        for path in PRIVATE_DEVICES {
            ruleset = allow(ruleset, Path::new(path), write | AccessFs::IoctlDev)?;
        }
        ruleset = allow(ruleset, Path::new("/dev"), AccessFs::ReadDir.into())?;
    }
    for path in DEVICES {
        ruleset = allow(ruleset, Path::new(path), device)?;
    }
    partly.extend(around);
    Ok(Rules { ruleset, around: partly })
}

/// Whether a hidden place has to be left out by a rule. Each hole costs a rule for everything around it. That it is covered
/// by a mount is not enough: the mount is gone when somebody outside replaces the file.
fn needs_hole(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match path.symlink_metadata() {
        // It may come to be while the command runs.
        Err(_) => true,
        // What is somebody else's and closed stays closed. The owner could open it.
        Ok(meta) => {
            meta.uid() == rustix::process::geteuid().as_raw()
                || rustix::fs::access(path, rustix::fs::Access::READ_OK).is_ok()
        }
    }
}

/// A rule for what is there. What is not, or cannot be opened, needs none.
fn allow(
    ruleset: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(place) = PathFd::new(path) else { return Ok(ruleset) };
    ruleset.add_rule(PathBeneath::new(place, access))
}

/// Names everything below `root` except the holes: `whole` is what has none inside, `partly` the folders around holes.
fn expand(root: &Path, holes: &[&PathBuf], whole: &mut Vec<PathBuf>, partly: &mut Vec<PathBuf>) {
    if holes.iter().any(|hole| root.starts_with(hole)) {
        return;
    }
    let inside: Vec<&Path> = holes.iter().filter_map(|hole| hole.strip_prefix(root).ok()).collect();
    around(root, &inside, whole, partly);
}

/// The same for a folder and what is hidden inside, from there on. Folders have hundreds of entries and are looked into for
/// every command, so holes are found by names, each once.
fn around(folder: &Path, holes: &[&Path], whole: &mut Vec<PathBuf>, partly: &mut Vec<PathBuf>) {
    if holes.is_empty() {
        whole.push(folder.to_owned());
        return;
    }
    partly.push(folder.to_owned());
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut below: BTreeMap<&OsStr, Vec<&Path>> = BTreeMap::new();
    for hole in holes {
        let mut steps = hole.components();
        if let Some(Component::Normal(name)) = steps.next() {
            below.entry(name).or_default().push(steps.as_path());
        }
    }
    for entry in entries.flatten() {
        // A link is judged by where it leads, and that is named on its own.
        if !entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            continue;
        }
        match below.get(&*entry.file_name()) {
            None => whole.push(entry.path()),
            Some(holes) if holes.iter().any(|hole| hole.as_os_str().is_empty()) => {}
            Some(holes) => around(&entry.path(), holes, whole, partly),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in ["a", "home/.ssh", "home/work", "home/other/x"] {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        std::os::unix::fs::symlink(root.join("home/.ssh"), root.join("home/link")).unwrap();
        let hole = root.join("home/.ssh");
        let (mut whole, mut partly) = (Vec::new(), Vec::new());
        expand(root, &[&hole], &mut whole, &mut partly);
        whole.sort();
        assert_eq!(whole, [root.join("a"), root.join("home/other"), root.join("home/work")]);
        assert_eq!(partly, [root.to_owned(), root.join("home")]);
    }

    #[test]
    fn holes_may_be_outside_missing_or_in_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in ["a/b/c", "a/d"] {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        let found = |from: &str, holes: &[&str]| {
            let holes: Vec<PathBuf> = holes.iter().map(|hole| root.join(hole)).collect();
            let (mut whole, mut partly) = (Vec::new(), Vec::new());
            expand(&root.join(from), &holes.iter().collect::<Vec<_>>(), &mut whole, &mut partly);
            whole.sort();
            (whole, partly)
        };
        let these = |paths: &[&str]| paths.iter().map(|path| root.join(path)).collect::<Vec<_>>();
        assert_eq!(found("a/b", &["a"]), (vec![], vec![]));
        assert_eq!(found("a", &["a"]), (vec![], vec![]));
        assert_eq!(found("a", &["elsewhere", "ab"]), (these(&["a"]), vec![]));
        assert_eq!(found("a", &["a/b/missing"]), (these(&["a/b/c", "a/d"]), these(&["a", "a/b"])));
        assert_eq!(found("a", &["a/b", "a/b/c"]), (these(&["a/d"]), these(&["a"])));
        assert_eq!(found("a", &["a/b/c", "a/b"]), (these(&["a/d"]), these(&["a"])));
    }
}
