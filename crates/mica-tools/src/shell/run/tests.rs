//! What a tier changes about a command: whether looking counts, and which hosts are granted.

use super::*;

fn job(looks: bool, hosts: &[&str]) -> Job {
    Job {
        command: "x".to_owned(),
        folder: PathBuf::from("/p"),
        hosts: hosts.iter().map(|host| host.parse().unwrap()).collect(),
        wall: Duration::from_secs(1),
        looks,
        run: RunId::fresh(),
        call: CallId::from("c"),
    }
}

#[test]
fn only_looking_counts_where_it_is_enforced() {
    for (tier, looks, expected) in [
        (Tier::None, true, false),
        (Tier::Landlock, true, true),
        (Tier::Namespaces, true, true),
        (Tier::Namespaces, false, false),
    ] {
        let mut job = job(looks, &[]);
        job.settle(tier);
        assert_eq!(job.looks, expected, "{tier} {looks}");
    }
}

#[test]
fn hosts_of_the_settings_are_left_out_where_they_cannot_be_granted() {
    let granted = |tier, weak, looks, named: &[&str]| {
        let hosts = vec!["example.org".parse().unwrap()];
        let settings = ShellSettings { hosts, weak, ..ShellSettings::default() };
        let (hosts, note) = super::hosts(&job(looks, named), &settings, tier);
        let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
        (hosts.join(" "), note)
    };
    let note = "the hosts of the setting shell.network (example.org) could not be granted, because the sandbox reaches only \
                the tier landlock here; the user can allow it with the setting shell.weak_network";
    let (refuse, accept) = (Weak::Refuse, Weak::Accept);
    for (tier, weak, looks, named, expected, noted) in [
        (Tier::Namespaces, refuse, false, &["a.org"][..], "a.org example.org", false),
        (Tier::Namespaces, refuse, true, &[], "", false),
        (Tier::Landlock, refuse, false, &[], "", true),
        (Tier::Landlock, refuse, false, &["a.org"], "a.org", true),
        (Tier::Landlock, refuse, true, &[], "", false),
        (Tier::Landlock, accept, false, &[], "example.org", false),
        (Tier::None, refuse, false, &["a.org"], "", false),
    ] {
        let expected = (expected.to_owned(), noted.then(|| note.to_owned()));
        assert_eq!(granted(tier, weak, looks, named), expected, "{tier} {weak:?} {looks} {named:?}");
    }
}
