//! `mica skills`: what is there, what one says, whether it is as the format wants it, and a new one.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use mica_ext::skills::find::{self, Root};
use mica_ext::skills::{Found, Skill, Whose, files, load, skill};

use crate::cli::Form;
use crate::cli::knowhow::SkillsCommand;
use crate::config::Values;
use crate::equipment::skills;
use crate::exit::Exit;
use crate::render::question::{plain, plain_lines};
use crate::surroundings::Surroundings;

/// The text to print, and how to end.
///
/// # Errors
/// A skill that is not there, or cannot be made.
pub fn run(command: &SkillsCommand, values: &Values, surroundings: &Surroundings) -> Result<(String, Exit)> {
    let text = match command {
        SkillsCommand::List { format } => {
            let looked = skills::look(values, surroundings);
            match format {
                Form::Text => looked.text(),
                Form::Json => format!("{}\n", looked.json()),
            }
        }
        SkillsCommand::Show { name, resource } => {
            let looked = skills::look(values, surroundings);
            let found = looked.chosen.skills.meant(name).map_err(|error| anyhow!(error))?;
            let text = match resource {
                None => load::text(found),
                Some(path) => files::resource(found, path),
            };
            format!("{}\n", plain_lines(&text.map_err(|error| anyhow!("{name}: {error}"))?))
        }
        SkillsCommand::Check { folders } => return check(folders, surroundings),
        SkillsCommand::New { name, global } => new(name, *global, surroundings)?,
    };
    Ok((text, Exit::Done))
}

/// Holds skills to the format: those in folders, which may be skills themselves, or all.
fn check(folders: &[PathBuf], surroundings: &Surroundings) -> Result<(String, Exit)> {
    let mut found = Found::default();
    if folders.is_empty() {
        found = find::find(&skills::roots(surroundings));
    }
    for folder in folders {
        let folder = surroundings.folder.join(folder);
        let folder = folder.canonicalize().with_context(|| format!("{} is not there", folder.display()))?;
        let here = if folder.join(skill::FILE).exists() {
            find::at(&folder)
        } else {
            find::find(&[Root { path: folder, whose: Whose::User, within: None }])
        };
        found.skills.extend(here.skills);
        found.left_out.extend(here.left_out);
    }
    let mut out = String::new();
    let mut is_good = found.left_out.is_empty();
    for skill in &found.skills {
        let problems = problems(skill);
        is_good &= problems.is_empty();
        let _ = writeln!(out, "{} {}", if problems.is_empty() { "ok" } else { "!!" }, plain(&skill.place()));
        for problem in problems {
            let _ = writeln!(out, "   {}", plain(&problem));
        }
    }
    for left in &found.left_out {
        let _ = writeln!(out, "!! {}\n   {}", plain(&left.path.display().to_string()), plain(&left.reason));
    }
    if out.is_empty() {
        out.push_str("there are no skills to check\n");
    }
    Ok((out, if is_good { Exit::Done } else { Exit::Error }))
}

/// Lines of a good skill at most, as the format advises.
const LINES: usize = 500;

fn problems(skill: &Skill) -> Vec<String> {
    let mut problems = skill.warnings.clone();
    match files::body(skill) {
        Err(reason) => problems.push(reason),
        Ok(body) if body.is_empty() => problems.push("it says nothing besides its front matter".to_owned()),
        Ok(body) => {
            let lines = body.lines().count();
            if lines > LINES {
                problems
                    .push(format!("it has {lines} lines; put what is not always needed into references/"));
            }
            problems.extend(missing(skill, &body));
        }
    }
    problems
}

/// Files that the text links to and that are not there.
fn missing(skill: &Skill, body: &str) -> Vec<String> {
    let Some(folder) = skill.folder() else { return Vec::new() };
    let links = body.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link.trim());
    let own = links
        .filter(|link| !link.contains("://") && !link.starts_with(['#', '/', '<']) && !link.contains(' '));
    let files = own.map(|link| link.split('#').next().unwrap_or(link)).filter(|link| !link.is_empty());
    files
        .filter(|file| !folder.join(file).exists())
        .map(|file| format!("it links to {file}, which is not there"))
        .collect()
}

/// Begins a skill.
fn new(name: &str, global: bool, surroundings: &Surroundings) -> Result<String> {
    if let Some(problem) = skill::problem(name) {
        bail!("{:?} cannot be the name of a skill: it {problem}", plain(name));
    }
    let root =
        if global { surroundings.config.join("skills") } else { surroundings.folder.join(".mica/skills") };
    let folder = root.join(name);
    ensure!(!folder.exists(), "{} is there already", folder.display());
    std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let file = folder.join(skill::FILE);
    let text = format!(
        "---\nname: {name}\ndescription: \"What it does, and when to use it: the words people say when they need it.\"\n---\n\n# \
         {name}\n\n1. What to look at first.\n2. What to do, in which order.\n3. How to see that it worked.\n"
    );
    let written = std::fs::File::create_new(&file).and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| format!("{} cannot be written", file.display()))?;
    let then = if global { "" } else { "; then trust it with `mica trust`" };
    Ok(format!("{} is begun. Write what it is for, and `mica skills check` it{then}\n", file.display()))
}
