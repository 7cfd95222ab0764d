//! The skills that come along. Their files are those in `skills/` of the repository.

use mica_ext::skills::Skill;

type Files = &'static [(&'static str, &'static str)];

/// A file of one of them.
macro_rules! file {
    ($skill:literal, $path:literal) => {
        ($path, include_str!(concat!("../../../../../skills/", $skill, "/", $path)))
    };
}

/// By name, so that the order does not change.
const BUILT_IN: &[(&str, Files)] = &[
    (
        "mi-migrate-expressions",
        &[
            file!("mi-migrate-expressions", "SKILL.md"),
            file!("mi-migrate-expressions", "references/mappings.md"),
        ],
    ),
    (
        "mi-troubleshooting",
        &[file!("mi-troubleshooting", "SKILL.md"), file!("mi-troubleshooting", "references/symptoms.md")],
    ),
    ("mica-extension", &[file!("mica-extension", "SKILL.md")]),
];

/// All of them.
pub(super) fn skills() -> impl Iterator<Item = Skill> {
    BUILT_IN.iter().filter_map(|(name, files)| Skill::embedded(name, files).ok())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn they_are_as_the_format_wants_them_and_all_of_them_come_along() {
        let read: Vec<Skill> = skills().collect();
        assert_eq!(read.len(), BUILT_IN.len());
        for skill in &read {
            assert_eq!(skill.warnings, Vec::<String>::new(), "{}", skill.name);
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills");
        let mut on_disk = BTreeSet::new();
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            for below in ["", "references", "scripts", "assets"] {
                let Ok(files) = std::fs::read_dir(entry.path().join(below)) else { continue };
                for file in files.flatten().filter(|file| file.path().is_file()) {
                    let path = Path::new(below).join(file.file_name());
                    on_disk.insert((name.clone(), path.display().to_string()));
                }
            }
        }
        let embedded: BTreeSet<(String, String)> = BUILT_IN
            .iter()
            .flat_map(|(name, files)| files.iter().map(|(path, _)| ((*name).to_owned(), (*path).to_owned())))
            .collect();
        assert_eq!(embedded, on_disk);
        // What a text sends to is there.
        for (name, files) in BUILT_IN {
            let main = files.iter().find(|(path, _)| *path == "SKILL.md").unwrap().1;
            for (path, _) in files.iter().filter(|(path, _)| *path != "SKILL.md") {
                assert!(main.contains(path), "{name} does not mention {path}");
            }
            assert!(main.lines().count() < 200, "{name} is long");
        }
    }

    /// The validator of the format itself, where it is installed: `MICA_SKILLS_REF` is the path of `skills-ref`.
    #[test]
    #[allow(clippy::disallowed_methods, reason = "a development oracle is a program")]
    fn the_validator_of_the_format_agrees() {
        let Some(program) = std::env::var_os("MICA_SKILLS_REF") else {
            println!("skipped: MICA_SKILLS_REF is not set");
            return;
        };
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills");
        for (name, _) in BUILT_IN {
            let ran =
                std::process::Command::new(&program).arg("validate").arg(folder.join(name)).output().unwrap();
            let said = [ran.stdout, ran.stderr].concat();
            assert!(ran.status.success(), "{name}: {}", String::from_utf8_lossy(&said));
        }
    }
}
