//! Folders of several kinds.

#![allow(clippy::disallowed_methods, reason = "tests make the projects that are read")]

use std::fs;

use tempfile::TempDir;

use super::*;

struct Folder(TempDir);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self(TempDir::new().unwrap());
        for (path, text) in files {
            folder.put(path, text);
        }
        folder
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, inside: &str) -> Option<MiProject> {
        MiProject::read(&self.0.path().join(inside))
    }
}

const ARTIFACT: &str = "src/main/wso2mi/artifacts/apis/A.xml";

fn pom(name: &str, rest: &str) -> String {
    format!("<project><artifactId>{name}</artifactId>{rest}</project>")
}

fn states(version: &str) -> String {
    format!("<properties><project.runtime.version>{version}</project.runtime.version></properties>")
}

#[test]
fn layouts_are_told_apart() {
    for (files, expect) in [
        (vec![(ARTIFACT, "")], Some(Layout::New)),
        (vec![("src/main/synapse-config/api/A.xml", "")], Some(Layout::Old)),
        (
            vec![("pom.xml", "<project><modules><module>a</module></modules></project>")],
            Some(Layout::Modules),
        ),
        (vec![("pom.xml", "<project/>"), ("deployment/deployment.toml", "")], Some(Layout::Bare)),
        (vec![("pom.xml", "<project/>"), ("src/main/java/A.java", "")], None),
        (vec![("README.md", "")], None),
    ] {
        let folder = Folder::with(&files);
        assert_eq!(folder.read("").map(|project| project.layout), expect, "{files:?}");
    }
}

#[test]
fn modules_have_their_own_runtime_or_that_of_their_parent() {
    let modules = "<modules><module>old</module><module>new</module><module>../outside</module><module>gone</module></modules>";
    let parent = "<parent><artifactId>all</artifactId></parent>";
    let folder = Folder::with(&[
        ("pom.xml", &pom("all", &format!("{}{modules}", states("4.3.0")))),
        ("old/pom.xml", &pom("old", parent)),
        ("old/src/main/synapse-config/api/A.xml", ""),
        ("new/pom.xml", &pom("new", &format!("{parent}{}", states("4.4.0")))),
        (&format!("new/{ARTIFACT}"), ""),
    ]);
    let project = folder.read("").unwrap();
    let root = folder.0.path();
    let found: Vec<(&str, Layout, String, PathBuf)> = project
        .parts()
        .map(|one| {
            let runtime = one.runtime.clone().unwrap();
            (one.path.as_str(), one.layout, runtime.version.to_string(), runtime.file)
        })
        .collect();
    assert_eq!(
        found,
        [
            ("old", Layout::Old, "4.3.0".to_owned(), root.join("old/../pom.xml")),
            ("new", Layout::New, "4.4.0".to_owned(), root.join("new/pom.xml")),
        ]
    );
    assert_eq!(folder.read("old").unwrap().version(), Some(Version::new(4, 3, 0)));
    let checked = disk::read(&root.join("old")).unwrap().runtime();
    assert_eq!(checked, Some(Version::new(4, 3, 0)), "the checker sees the same");
}

#[test]
fn connectors_are_those_declared_and_those_that_lie_there() {
    let dependencies = "<properties><http.version>0.1.9</http.version></properties><dependencies>\
        <dependency><groupId>org.wso2.integration.connector</groupId><artifactId>mi-connector-http</artifactId>\
        <version>${http.version}</version><type>zip</type></dependency>\
        <dependency><groupId>com.example</groupId><artifactId>lib</artifactId><version>1</version></dependency>\
        </dependencies>";
    let folder = Folder::with(&[
        ("pom.xml", &pom("p", dependencies)),
        (ARTIFACT, ""),
        ("src/main/wso2mi/resources/connectors/own-1.0.0.ZIP", ""),
        ("src/main/wso2mi/resources/connectors/readme.txt", ""),
        ("src/main/wso2mi/resources/inbound-connectors/in.zip", ""),
    ]);
    let project = folder.read("").unwrap();
    let http = Declared {
        group: "org.wso2.integration.connector".into(),
        artifact: "mi-connector-http".into(),
        version: "0.1.9".into(),
    };
    assert_eq!(project.connectors, [http]);
    let names: Vec<_> =
        project.archives.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["own-1.0.0.ZIP", "in.zip"]);
}

#[test]
fn a_change_of_what_was_read_is_seen() {
    let folder = Folder::with(&[("pom.xml", &pom("p", "")), (ARTIFACT, "")]);
    let project = folder.read("").unwrap();
    assert!(project.is_fresh());
    folder.put("src/main/wso2mi/artifacts/apis/B.xml", "");
    assert!(project.is_fresh(), "artifacts are not read");
    folder.put("pom.xml", &pom("p", &states("4.4.0")));
    assert!(!project.is_fresh());
    let project = folder.read("").unwrap();
    folder.put("src/main/wso2mi/resources/connectors/a.zip", "");
    assert!(!project.is_fresh(), "an archive was put there");
}
