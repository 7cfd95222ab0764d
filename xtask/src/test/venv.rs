//! Python virtual environments, below `target/py`, built anew when their requirements change.

use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};
use crate::{process, workspace};

/// The environment with the official SDKs. Answers its Python.
pub(crate) fn sdk() -> Result<PathBuf> {
    ensure("sdk", "requirements-sdk.txt")
}

/// An environment with what a file of `xtask/python` lists. Answers its Python.
pub(crate) fn ensure(name: &str, requirements: &str) -> Result<PathBuf> {
    let requirements = requirements_file(requirements);
    let wanted = workspace::read(&requirements)?;
    let folder = workspace::target().join("py").join(name);
    let python = if cfg!(windows) {
        folder.join("Scripts").join("python.exe")
    } else {
        folder.join("bin").join("python")
    };
    let stamp = Stamp { file: folder.join("requirements.stamp"), wanted };
    // An environment breaks when the Python that it was made with goes away, so it is tried.
    if stamp.holds() && process::output(process::program(&python).args(["-c", "pass"])).is_ok() {
        return Ok(python);
    }
    let system = system_python()?;
    println!("Setting up target/py/{name} from {}.", file_name(&requirements));
    workspace::remove_folder(&folder)?;
    process::output(process::program(system).args(["-m", "venv"]).arg(&folder))?;
    process::output(
        process::program(&python)
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"])
            .arg(&requirements),
    )?;
    stamp.set()?;
    Ok(python)
}

/// The path of a requirements file.
pub(crate) fn requirements_file(name: &str) -> PathBuf {
    workspace::root().join("xtask").join("python").join(name)
}

/// What was installed last: the very text of the list, which is as good as a hash of it and can be read.
pub(crate) struct Stamp {
    pub(crate) file: PathBuf,
    pub(crate) wanted: String,
}

impl Stamp {
    /// Whether what is there was installed from the same list. Set last, so that half an installation has none.
    pub(crate) fn holds(&self) -> bool {
        std::fs::read_to_string(&self.file).is_ok_and(|found| found == self.wanted)
    }

    /// Notes that everything on the list is there.
    pub(crate) fn set(&self) -> Result<()> {
        workspace::write(&self.file, &self.wanted)
    }
}

fn system_python() -> Result<&'static str> {
    ["python3", "python"]
        .into_iter()
        .find(|name| {
            process::output(
                process::program(name).args(["-c", "import sys; sys.exit(sys.version_info < (3, 10))"]),
            )
            .is_ok()
        })
        .ok_or_else(|| Failure::new("no Python 3.10 or later found (tried python3 and python); install it"))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_holds_for_the_same_list_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("stamp");
        let stamp = |wanted: &str| Stamp { file: file.clone(), wanted: wanted.to_owned() };
        assert!(!stamp("one==1").holds());
        stamp("one==1").set().expect("written");
        assert!(stamp("one==1").holds());
        assert!(!stamp("one==2").holds());
    }
}
