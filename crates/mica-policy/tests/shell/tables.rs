//! Every line of the tables gets its class and its reason.

use super::*;

#[test]
fn the_tables_hold() {
    let tables = [
        ("holes", include_str!("holes.toml")),
        ("reading", include_str!("reading.toml")),
        ("running", include_str!("running.toml")),
        ("places", include_str!("places.toml")),
        ("ordinary", include_str!("ordinary.toml")),
        ("plan", include_str!("plan.toml")),
    ];
    let count: usize = tables.iter().map(|(name, text)| check_table(name, text)).sum();
    assert!(count >= 450, "{count} command lines");
}

#[test]
fn long_chains_are_judged_to_their_end() {
    for joint in [" && ", "; ", " | ", "\n", " || ", " & "] {
        let mut commands = vec!["echo a"; 400];
        assert_eq!(judged(&commands.join(joint)).class, Class::Safe, "{joint:?}");
        commands[377] = "sudo ls";
        let judged = judged(&commands.join(joint));
        assert_eq!((judged.class, judged.rule.as_str()), (Class::Blocked, "floor.sudo"), "{joint:?}");
        assert_eq!(judged.parts.len(), 400);
    }
}
