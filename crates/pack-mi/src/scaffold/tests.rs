//! Every scaffold goes through the checker, for every runtime.

use std::collections::BTreeSet;

use synapse_lang::project::{Project, disk};
use synapse_lang::syntax::Document;

use super::*;

const PETS: &str = include_str!("openapi/pets.json");

const RUNTIMES: [&str; 6] = ["4.1.0", "4.2.0", "4.3.0", "4.4.0", "4.5.0", "4.6.0"];

/// What the checker finds in a project.
fn findings(files: &[NewFile]) -> Vec<String> {
    let mut project = Project::default();
    for file in files.iter().filter(|file| !file.is_folder()) {
        if disk::matters(&file.path) {
            project.set(file.path.as_str(), file.content.as_str());
        } else {
            project.mention(file.path.as_str());
        }
    }
    let paths: Vec<String> = project.files().map(|(path, _)| path.to_owned()).collect();
    let found =
        paths.iter().flat_map(|path| project.check_file(path).into_iter().map(move |one| (path, one)));
    found.map(|(path, one)| format!("{path} {} {}", one.code, one.message)).collect()
}

#[test]
fn what_is_made_checks_clean_on_every_runtime() {
    for runtime in RUNTIMES {
        let plain = NewProject::new("orders", runtime.parse().unwrap()).unwrap();
        assert_eq!(findings(&files(&plain)), Vec::<String>::new(), "{runtime}");
        let with_api = NewProject { api: Some(OpenApi::read(PETS).unwrap()), ..plain };
        assert_eq!(findings(&files(&with_api)), Vec::<String>::new(), "{runtime} with an API");
    }
}

#[test]
fn the_build_file_says_what_was_wished() {
    let check = |runtime: &str, connector: bool, versioned: bool| {
        let project = NewProject::new("Orders_1", runtime.parse().unwrap()).unwrap();
        let project = project
            .in_group("org.shop")
            .unwrap()
            .with_repositories(&["https://maven.example.org/a&b".into()]);
        let project = NewProject { id: "an-id".into(), ..project.unwrap() };
        let files = files(&project);
        let pom = files.iter().find(|file| file.path == "pom.xml").unwrap();
        assert!(Document::parse(pom.content.as_str()).problems().is_empty());
        let read = synapse_lang::project::pom::Pom::read(&pom.content).unwrap();
        assert_eq!((read.group.as_deref(), read.artifact.as_deref()), (Some("org.shop"), Some("Orders_1")));
        assert_eq!(read.properties["project.runtime.version"], runtime);
        assert_eq!(read.properties["uuid"], "an-id");
        assert_eq!(read.properties["dockerfile.name"], "orders_1:1.0.0");
        assert_eq!(read.properties.contains_key("versionedDeployment"), versioned);
        assert_eq!(read.dependencies.iter().filter(|one| one.is_connector()).count(), usize::from(connector));
        assert_eq!(pom.content.matches("<url>https://maven.example.org/a&amp;b</url>").count(), 2);
    };
    check("4.3.0", false, false);
    check("4.4.0", true, false);
    check("4.6.0", true, true);
}

#[test]
fn the_layout_is_that_of_the_runtime() {
    let paths = |runtime: &str| -> BTreeSet<String> {
        let project = NewProject::new("a", runtime.parse().unwrap()).unwrap();
        files(&project).into_iter().map(|file| file.path).collect()
    };
    let (old, new) = (paths("4.3.0"), paths("4.6.0"));
    let differs: Vec<&String> = old.symmetric_difference(&new).collect();
    assert_eq!(
        differs,
        [
            "src/main/wso2mi/resources/datamapper/",
            "src/main/wso2mi/resources/registry/conf/",
            "src/main/wso2mi/resources/registry/gov/",
        ]
    );
    for path in ["deployment/deployment.toml", "src/test/wso2mi/", "src/main/wso2mi/resources/artifact.xml"] {
        assert!(new.contains(path), "{path}");
    }
}

#[test]
fn wishes_that_cannot_be_are_refused() {
    let newest = Version::NEWEST;
    for name in ["", "1a", "a b", "../a", "a/b", "ä", &"a".repeat(65)] {
        let error = NewProject::new(name, newest).unwrap_err();
        assert_eq!(error, ScaffoldError::BadName { name: name.to_owned() });
    }
    let error = NewProject::new("a", Version::new(3, 2, 0)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there are no projects for runtime 3.2.0: the versions from 4.1.0 on can be used"
    );
    let project = NewProject::new("a", newest).unwrap();
    for group in ["", "a..b", "1.b", "a b", "a/b"] {
        assert!(project.clone().in_group(group).is_err(), "{group}");
    }
    for address in ["", "ftp://a", "https://", "https://a b"] {
        assert!(project.clone().with_repositories(&[address.to_owned()]).is_err(), "{address}");
    }
}
