//! What is said in which kind of run.

use super::*;

fn said<T: Kind>(section: &Section<T>, profile: Profile) -> Option<String> {
    let tools: ToolNames = ["note"].into_iter().collect();
    section.said(&StaticView { tools: &tools, profile }).map(|piece| piece.text)
}

#[test]
fn a_section_is_said_where_all_its_conditions_hold() {
    let chat = Profile::default();
    let thread = Profile { surface: Surface::Thread, audience: Audience::Customer, ..chat };
    let alone = Profile::AUTONOMOUS;
    let section = || Section::<Static>::fixed("x", "x");
    for (name, section, expected) in [
        ("always", section(), [true, true, true]),
        ("somebody is there", section().only(RunMode::Interactive), [true, true, false]),
        ("nobody is there", section().only(RunMode::Autonomous), [false, false, true]),
        ("chat", section().on(Surface::Chat), [true, false, false]),
        ("customers", section().to(Audience::Customer), [false, true, false]),
        ("customers in a chat", section().on(Surface::Chat).to(Audience::Customer), [false, false, false]),
    ] {
        let found = [chat, thread, alone].map(|profile| said(&section, profile).is_some());
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn a_static_section_is_made_from_the_tools_and_the_kind_of_run() {
    let section = Section::<Static>::made("notes", |view| {
        view.tools.has("note").then(|| format!("Note it ({:?}).", view.profile.mode))
    });
    assert_eq!(said(&section, Profile::default()).as_deref(), Some("Note it (Interactive)."));
    assert_eq!(said(&Section::<Org>::new("empty", " \n"), Profile::default()), None);
}
