//! No address of a package registry: packages are named, and the tools know where to look.

use super::Finding;

/// The hosts. Taken apart, so that this file is not a finding.
const HOSTS: &[&str] = &[
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("npmjs", ".org"),
    concat!("npmjs", ".com"),
    concat!("yarnpkg", ".com"),
];

/// Cargo writes the name of its registry into every entry of this file; nobody chose it.
const EXEMPT: &str = "Cargo.lock";

/// Finds addresses of registries.
pub(crate) fn check(path: &str, text: &str) -> Vec<Finding> {
    if path.rsplit('/').next() == Some(EXEMPT) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(host) = HOSTS.iter().find(|host| line.contains(**host)) {
            findings.push(Finding::new(
                path,
                index + 1,
                format!(
                    "the address of a package registry ({host}): name the package and leave the address out"
                ),
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_is_found() {
        for host in HOSTS {
            let text = format!("{{\n\"resolved\": \"https://registry.{host}/x.tgz\"\n}}");
            assert_eq!(
                check("package-lock.json", &text).iter().map(|f| f.line).collect::<Vec<_>>(),
                [2],
                "{host}"
            );
        }
    }

    #[test]
    fn only_the_lock_file_of_cargo_is_exempt() {
        let text = format!("source = \"registry+https://github.com/rust-lang/{}-index\"", HOSTS[0]);
        assert_eq!(check("Cargo.lock", &text), []);
        assert_eq!(check("fuzz/Cargo.lock", &text), []);
        assert_eq!(check("deny.toml", &text).len(), 1);
        assert_eq!(check("Cargo.lock.md", &text).len(), 1);
    }
}
