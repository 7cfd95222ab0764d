//! Maven with plugins that work offline: Debian packages them, and its repository of them is a folder.

use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};
use crate::process;

/// The packages. The compiler's plugin names a list of versions that is in JUnit's, and its own package does not say so.
const PACKAGES: [&str; 7] = [
    "maven",
    "libmaven-clean-plugin-java",
    "libmaven-compiler-plugin-java",
    "libmaven-antrun-plugin-java",
    "libmaven-install-plugin-java",
    "junit5",
    "default-jdk-headless",
];
/// The plugins that tests use.
const PLUGINS: [&str; 4] =
    ["maven-clean-plugin", "maven-compiler-plugin", "maven-antrun-plugin", "maven-install-plugin"];

/// The folder with the plugins, installed first when that is possible.
pub(crate) fn ensure() -> Result<PathBuf> {
    let folder = Path::new("/usr/share").join("maven-repo");
    let present = || {
        let has = |name: &&str| folder.join("org/apache/maven/plugins").join(name).is_dir();
        let versions = folder.join("org/junit/junit-bom/debian");
        PLUGINS.iter().all(has)
            && versions.is_dir()
            && process::output(process::program("mvn").arg("--version")).is_ok()
    };
    if present() {
        return Ok(folder);
    }
    let names = PACKAGES.join(" ");
    let root = process::output(process::program("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if !root || !Path::new("/usr/bin/apt-get").is_file() {
        return Err(Failure::new(format!("not installed; on Debian and Ubuntu: apt-get install {names}")));
    }
    println!("Installing Maven and its plugins.");
    let mut install = process::program("apt-get");
    install.env("DEBIAN_FRONTEND", "noninteractive");
    install.args(["install", "--yes", "--no-install-recommends"]).args(PACKAGES);
    process::output(&mut install)?;
    if present() { Ok(folder) } else { Err(Failure::new("the packages bring other plugins than before")) }
}
