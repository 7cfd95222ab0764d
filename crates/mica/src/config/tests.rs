//! Layers in, values out.

use super::*;

fn config(layers: &[(&str, &str)]) -> Config {
    let layers = layers
        .iter()
        .map(|(source, text)| Layer { source: (*source).to_owned(), table: text.parse().unwrap() })
        .collect();
    Config { layers, notes: Vec::new() }
}

#[test]
fn later_layers_win_value_by_value() {
    let config = config(&[
        ("built in", BUILT_IN),
        ("user", "model = \"a\"\n[limits]\nturns = 10"),
        ("flags", "[limits]\ncost = 0.5"),
    ]);
    let values = config.values().unwrap();
    assert_eq!(values.model.as_deref(), Some("a"));
    assert_eq!(
        (values.limits.turns, values.limits.cost, values.limits.idle),
        (Some(10), Some(0.5), Some(120))
    );
    let explained: Vec<String> =
        config.explain("limits.turns").iter().map(|(source, value)| format!("{source} {value}")).collect();
    assert_eq!(explained, ["built in 50", "user 10"]);
}

#[test]
fn endpoints_of_all_layers_are_kept_the_stronger_first() {
    let config = config(&[
        ("user", "[[endpoints]]\nkind = \"local\"\nname = \"u\""),
        ("project", "[[endpoints]]\nkind = \"local\"\nname = \"p\""),
    ]);
    let names: Vec<String> = config
        .values()
        .unwrap()
        .endpoints
        .iter()
        .map(|endpoint| endpoint["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["p", "u"]);
}

#[test]
fn what_one_layer_denies_another_does_not_take_back() {
    let config = config(&[
        ("user", "deny = [\"shell(git push)\", \"web_fetch\"]"),
        ("project", "deny = [\"web_fetch\", \"file_write(x)\"]"),
        ("flags", "deny = []"),
    ]);
    assert_eq!(config.values().unwrap().deny, ["shell(git push)", "web_fetch", "file_write(x)"]);
}

#[test]
fn a_mistake_is_told_with_the_layer_it_is_in() {
    let error = config(&[("built in", BUILT_IN), ("the user's file", "modle = \"a\"")]).values().unwrap_err();
    let text = format!("{error:#}");
    assert!(text.contains("the user's file") && text.contains("modle"), "{text}");
}
