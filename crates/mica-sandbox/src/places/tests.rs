//! The table is in order, and variables that name themselves secrets stay behind.

use super::*;

#[test]
fn secrets_are_below_the_home_folder() {
    let places = Places::builtin().unwrap();
    let with = places.secrets(Some(Path::new("/home/user")));
    assert!(with.contains(&PathBuf::from("/home/user/.ssh")));
    assert!(with.contains(&PathBuf::from("/etc/shadow")));
    assert!(places.secrets(None).iter().all(|place| place.is_absolute()));
}

#[test]
fn an_environment_is_cleaned() {
    let places = Places::builtin().unwrap();
    let given =
        ["PATH", "LC_ALL", "AZURE_API_KEY", "LD_PRELOAD", "MISE_GITHUB_TOKEN", "MISE_ENV", "SSH_AUTH_SOCK"];
    let given: BTreeMap<String, String> =
        given.iter().map(|name| ((*name).to_owned(), "x".to_owned())).collect();
    let kept: Vec<String> = places.clean(&given).into_keys().collect();
    assert_eq!(kept, ["LC_ALL", "MISE_ENV", "PATH"]);
}
