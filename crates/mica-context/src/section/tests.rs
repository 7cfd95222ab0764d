//! Which part of the prompt a section ends up in, and what it may see.

use super::*;

struct Desk;

impl Facts for Desk {
    type Org = String;
    type Turn = u32;
}

fn sections() -> Sections<Desk> {
    Sections::default()
        .with_static(Section::new("who", |_| Some("You help.\n".to_owned())))
        .with_static(Section::new("search", |view: &StaticView| {
            view.tools.has("search").then(|| "Use search.".to_owned())
        }))
        .with_org(Section::new("org", |view: &OrgView<Desk>| Some(format!("You work for {}.", view.org))))
        .with_turn(Section::new("page", |view: &TurnView<Desk>| Some(format!("Page {}.", view.turn))))
}

#[test]
fn static_and_org_make_the_system_prompt_and_turn_does_not() {
    let org = Arc::new("Acme".to_owned());
    let tools = ToolNames::new(["search", "read"]);
    assert_eq!(sections().system(&tools, &org), ["You help.\n\nUse search.", "You work for Acme."]);
    // No section names a tool that is not there.
    assert_eq!(sections().system(&ToolNames::default(), &org), ["You help.", "You work for Acme."]);
    assert_eq!(
        sections().turn(&tools, &org, &Arc::new(7)),
        [Rendered { id: "page".into(), tier: TierKind::Turn, text: Some("Page 7.".into()) }]
    );
}

#[test]
fn the_listing_has_every_section_with_its_size() {
    let listing = sections().listing(&ToolNames::default(), &Arc::new("Acme".to_owned()), &Arc::new(7));
    let lines: Vec<(&str, TierKind, bool)> =
        listing.iter().map(|line| (line.id.as_str(), line.tier, line.tokens > 0)).collect();
    assert_eq!(
        lines,
        [
            ("who", TierKind::Static, true),
            ("search", TierKind::Static, false),
            ("org", TierKind::Org, true),
            ("page", TierKind::Turn, true),
        ]
    );
}
