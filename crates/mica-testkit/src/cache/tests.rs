//! The published rules, one test each.

use super::*;

const NOW: Duration = Duration::ZERO;

fn minutes(count: u64) -> Duration {
    Duration::from_secs(count * 60)
}

fn facts(kind: CacheKind) -> CacheFacts {
    match kind {
        CacheKind::Breakpoints => {
            CacheFacts { kind, minimum: 1024, max_marks: 4, lookback: 0, ttl_minutes: vec![30] }
        }
        CacheKind::Prefix => usual(Dialect::Responses),
        CacheKind::Marks => usual(Dialect::Messages),
        CacheKind::None => CacheFacts::NONE,
    }
}

/// A block of so many tokens whose text differs by `name`.
fn block(tier: Tier, name: &str, size: usize) -> PromptBlock {
    let text = format!("{name:-<width$}", width = size * 4);
    PromptBlock { tier, text, mark: None }
}

fn marked(mut block: PromptBlock, ttl: CacheTtl) -> PromptBlock {
    block.mark = Some(ttl);
    block
}

fn prompt(blocks: Vec<PromptBlock>) -> Prompt {
    Prompt { model: "m".into(), blocks, ..Prompt::default() }
}

fn messages(count: usize) -> Vec<PromptBlock> {
    (0..count).map(|number| block(Tier::Message, &format!("message {number}"), 100)).collect()
}

/// Tools and system of 1,000 tokens each, the system's end marked.
fn base() -> Vec<PromptBlock> {
    vec![block(Tier::Tool, "tool", 1000), marked(block(Tier::System, "system", 1000), CacheTtl::Short)]
}

fn with_tail(mut blocks: Vec<PromptBlock>, count: usize) -> Prompt {
    blocks.extend(messages(count));
    if let Some(last) = blocks.last_mut() {
        last.mark = Some(CacheTtl::Short);
    }
    prompt(blocks)
}

#[track_caller]
fn check(report: &CacheReport, read: u64, written: u64, uncached: u64, reason: &Reason) {
    assert_eq!(
        (report.read, report.written, report.uncached, &report.reason),
        (read, written, uncached, reason)
    );
}

mod marks {
    use super::*;

    fn ask(sim: &mut CacheSim, prompt: &Prompt, now: Duration) -> CacheReport {
        sim.request(prompt, &facts(CacheKind::Marks), now)
    }

    #[test]
    fn a_growing_conversation_reads_what_it_wrote() {
        let mut sim = CacheSim::new();
        check(&ask(&mut sim, &with_tail(base(), 1), NOW), 0, 2100, 0, &Reason::FirstRequest);
        check(&ask(&mut sim, &with_tail(base(), 3), NOW), 2100, 200, 0, &Reason::Hit);
        check(&ask(&mut sim, &with_tail(base(), 3), NOW), 2300, 0, 0, &Reason::Hit);
    }

    #[test]
    fn without_a_mark_nothing_is_cached_and_what_follows_the_last_is_not() {
        let mut sim = CacheSim::new();
        let mut bare = with_tail(base(), 1);
        for block in &mut bare.blocks {
            block.mark = None;
        }
        check(&ask(&mut sim, &bare, NOW), 0, 0, 2100, &Reason::NoMark);
        let mut tail = base();
        tail.extend(messages(2));
        check(&ask(&mut sim, &prompt(tail), NOW), 0, 2000, 200, &Reason::FirstRequest);
    }

    #[test]
    fn short_prefixes_are_silently_not_cached() {
        let mut sim = CacheSim::new();
        let short = prompt(vec![marked(block(Tier::System, "s", 1023), CacheTtl::Short)]);
        check(&ask(&mut sim, &short, NOW), 0, 0, 1023, &Reason::BelowMinimum);
        check(&ask(&mut sim, &short, NOW), 0, 0, 1023, &Reason::BelowMinimum);
        let enough = prompt(vec![marked(block(Tier::System, "s", 1024), CacheTtl::Short)]);
        check(&ask(&mut sim, &enough, NOW), 0, 1024, 0, &Reason::FirstRequest);
    }

    #[test]
    fn entries_live_five_minutes_from_their_last_use() {
        let mut sim = CacheSim::new();
        let same = with_tail(base(), 1);
        ask(&mut sim, &same, NOW);
        check(&ask(&mut sim, &same, minutes(4)), 2100, 0, 0, &Reason::Hit);
        check(&ask(&mut sim, &same, minutes(8)), 2100, 0, 0, &Reason::Hit);
        check(&ask(&mut sim, &same, minutes(13)), 0, 2100, 0, &Reason::Expired);
    }

    #[test]
    fn an_hour_is_paid_apart_and_lasts() {
        let mut sim = CacheSim::new();
        let mut blocks = vec![
            block(Tier::Tool, "tool", 1000),
            marked(block(Tier::System, "system", 1000), CacheTtl::Long),
        ];
        blocks.push(marked(block(Tier::Message, "hello", 100), CacheTtl::Short));
        let request = prompt(blocks);
        let first = ask(&mut sim, &request, NOW);
        assert_eq!((first.written, first.written_long), (2100, 2000));
        let later = ask(&mut sim, &request, minutes(30));
        check(&later, 2000, 100, 0, &Reason::Expired);
        assert_eq!(later.written_long, 0);
    }

    #[test]
    fn a_changed_tool_kills_all_and_a_changed_system_keeps_the_tools() {
        let tools = |name: &str| marked(block(Tier::Tool, name, 1500), CacheTtl::Short);
        let system = |name: &str| marked(block(Tier::System, name, 500), CacheTtl::Short);
        let mut sim = CacheSim::new();
        ask(&mut sim, &prompt(vec![tools("a"), system("a")]), NOW);
        let reason = Reason::Changed { block: 1, tier: Tier::System };
        check(&ask(&mut sim, &prompt(vec![tools("a"), system("b")]), NOW), 1500, 500, 0, &reason);
        let reason = Reason::Changed { block: 0, tier: Tier::Tool };
        check(&ask(&mut sim, &prompt(vec![tools("b"), system("a")]), NOW), 0, 2000, 0, &reason);
        let other = Prompt { model: "n".into(), ..prompt(vec![tools("a"), system("a")]) };
        check(&ask(&mut sim, &other, NOW), 0, 2000, 0, &Reason::FirstRequest);
    }

    #[test]
    fn how_tools_are_chosen_costs_the_messages_only() {
        let mut sim = CacheSim::new();
        ask(&mut sim, &with_tail(base(), 1), NOW);
        let other = Prompt { settings: "required".into(), ..with_tail(base(), 1) };
        check(&ask(&mut sim, &other, NOW), 2000, 100, 0, &Reason::ChangedSettings);
    }

    #[test]
    fn a_mark_looks_back_twenty_blocks_and_no_further() {
        for (added, read) in [(19, 2100), (20, 2000)] {
            let mut sim = CacheSim::new();
            ask(&mut sim, &with_tail(base(), 1), NOW);
            let report = ask(&mut sim, &with_tail(base(), 1 + added), NOW);
            assert_eq!(report.read, read, "{added} blocks later");
            let reason = if added == 19 { Reason::Hit } else { Reason::OutOfLookback };
            assert_eq!(report.reason, reason);
        }
    }

    #[test]
    fn a_mark_in_between_bridges_the_lookback() {
        let mut sim = CacheSim::new();
        ask(&mut sim, &with_tail(base(), 1), NOW);
        let mut bridged = with_tail(base(), 31);
        bridged.blocks[2 + 15].mark = Some(CacheTtl::Short);
        check(&ask(&mut sim, &bridged, NOW), 2100, 3000, 0, &Reason::Hit);
    }

    #[test]
    fn others_read_only_after_the_first_answer_streams() {
        let mut sim = CacheSim::new();
        let same = with_tail(base(), 1);
        let (_, ticket) = sim.ask(&same, &facts(CacheKind::Marks), NOW);
        let (second, _) = sim.ask(&same, &facts(CacheKind::Marks), NOW);
        check(&second, 0, 2100, 0, &Reason::NotStreaming);
        sim.streaming(ticket, NOW);
        check(&ask(&mut sim, &same, NOW), 2100, 0, 0, &Reason::Hit);
    }
}

mod prefix {
    use super::*;

    fn ask(sim: &mut CacheSim, prompt: &Prompt, now: Duration) -> CacheReport {
        sim.request(prompt, &facts(CacheKind::Prefix), now)
    }

    #[test]
    fn prefixes_match_in_steps_and_writes_are_free() {
        let mut sim = CacheSim::new();
        let same = prompt(vec![block(Tier::System, "s", 1300)]);
        check(&ask(&mut sim, &same, NOW), 0, 0, 1300, &Reason::FirstRequest);
        // 1,024 and two steps of 128 fit into 1,300.
        check(&ask(&mut sim, &same, NOW), 1280, 0, 20, &Reason::Hit);
        let short = prompt(vec![block(Tier::System, "s", 1023)]);
        check(&ask(&mut sim, &short, NOW), 0, 0, 1023, &Reason::BelowMinimum);
    }

    #[test]
    fn the_match_ends_where_the_text_differs() {
        let mut sim = CacheSim::new();
        let with = |name| prompt(vec![block(Tier::System, "s", 1200), block(Tier::Message, name, 1000)]);
        ask(&mut sim, &with("a"), NOW);
        let reason = Reason::Changed { block: 1, tier: Tier::Message };
        check(&ask(&mut sim, &with("b"), NOW), 1152, 0, 2200 - 1152, &reason);
    }

    #[test]
    fn another_key_is_another_shard() {
        let mut sim = CacheSim::new();
        let keyed =
            |key: &str| Prompt { key: Some(key.into()), ..prompt(vec![block(Tier::System, "s", 2000)]) };
        ask(&mut sim, &keyed("one"), NOW);
        check(&ask(&mut sim, &keyed("two"), NOW), 0, 0, 2000, &Reason::OtherKey);
        assert_eq!(ask(&mut sim, &keyed("one"), NOW).read, 1920);
    }

    #[test]
    fn entries_expire_unless_they_are_used() {
        let mut sim = CacheSim::new();
        let same = prompt(vec![block(Tier::System, "s", 2000)]);
        ask(&mut sim, &same, NOW);
        assert_eq!(ask(&mut sim, &same, minutes(9)).read, 1920);
        assert_eq!(ask(&mut sim, &same, minutes(18)).read, 1920);
        check(&ask(&mut sim, &same, minutes(28)), 0, 0, 2000, &Reason::Expired);
    }
}

mod breakpoints {
    use super::*;

    fn ask(sim: &mut CacheSim, prompt: &Prompt, now: Duration) -> CacheReport {
        sim.request(prompt, &facts(CacheKind::Breakpoints), now)
    }

    #[test]
    fn the_end_is_an_implicit_breakpoint_and_writes_are_paid() {
        let mut sim = CacheSim::new();
        let mut blocks = vec![block(Tier::System, "s", 2000)];
        check(&ask(&mut sim, &prompt(blocks.clone()), NOW), 0, 2000, 0, &Reason::FirstRequest);
        blocks.extend(messages(40));
        // Forty blocks later: there is no limit of blocks.
        check(&ask(&mut sim, &prompt(blocks), NOW), 2000, 4000, 0, &Reason::Hit);
    }

    #[test]
    fn a_prefix_that_is_no_breakpoint_is_not_found() {
        let mut sim = CacheSim::new();
        let system = block(Tier::System, "s", 2000);
        let with = |name, system: &PromptBlock| prompt(vec![system.clone(), block(Tier::Message, name, 100)]);
        ask(&mut sim, &with("a", &system), NOW);
        let reason = Reason::Changed { block: 1, tier: Tier::Message };
        check(&ask(&mut sim, &with("b", &system), NOW), 0, 2100, 0, &reason);
        let explicit = marked(system, CacheTtl::Short);
        ask(&mut sim, &with("c", &explicit), NOW);
        check(&ask(&mut sim, &with("d", &explicit), NOW), 2000, 100, 0, &reason);
    }

    #[test]
    fn explicit_mode_writes_at_marks_only() {
        let mut sim = CacheSim::new();
        let mut request = prompt(vec![
            marked(block(Tier::System, "s", 2000), CacheTtl::Short),
            block(Tier::Message, "a", 100),
        ]);
        request.explicit_only = true;
        check(&ask(&mut sim, &request, NOW), 0, 2000, 100, &Reason::FirstRequest);
        check(&ask(&mut sim, &request, NOW), 2000, 0, 100, &Reason::Hit);
    }

    #[test]
    fn only_the_newest_eighty_breakpoints_are_searched() {
        let mut sim = CacheSim::new();
        let number = |n: usize| prompt(vec![block(Tier::System, &format!("system {n}"), 2000)]);
        for n in 0..=80 {
            ask(&mut sim, &number(n), NOW);
        }
        assert_eq!(ask(&mut sim, &number(1), NOW).read, 2000);
        assert_eq!(ask(&mut sim, &number(0), NOW).read, 0);
    }
}

#[test]
fn the_parts_of_a_report_make_up_the_input() {
    let mut sim = CacheSim::new();
    for kind in [CacheKind::None, CacheKind::Marks, CacheKind::Prefix, CacheKind::Breakpoints] {
        for count in [1, 2, 30, 31] {
            let report = sim.request(&with_tail(base(), count), &facts(kind), NOW);
            assert_eq!(report.input(), 2000 + 100 * count as u64, "{kind:?} {count}");
        }
    }
}

#[test]
fn a_breakpoint_in_an_output_marks_the_item_and_does_not_change_it() {
    let body = |mark: bool| {
        let mut part = serde_json::json!({ "type": "input_text", "text": "result" });
        if mark {
            part["prompt_cache_breakpoint"] = serde_json::json!({ "mode": "explicit" });
        }
        serde_json::json!({ "input": [{ "type": "function_call_output", "call_id": "c", "output": [part] }] })
    };
    let [marked, plain] = [true, false].map(|mark| {
        let prompt = Prompt::on_wire(Dialect::Responses, &body(mark), "m");
        (prompt.blocks[0].mark, prompt.blocks[0].text.clone())
    });
    assert_eq!((marked.0, plain.0), (Some(CacheTtl::Short), None));
    assert_eq!(marked.1, plain.1);
}
