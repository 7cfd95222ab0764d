//! Cases of the desk fail when what they show is not so.

use super::*;

/// Each of these breaks a case of the desk on purpose: what it shows is really looked at.
#[tokio::test(flavor = "multi_thread")]
async fn cases_of_the_desk_fail_when_what_they_show_is_not_so() {
    let stage = Stage::new(Scenario::new()).await;
    let broken = [
        ("14_valves/01_turns", "turns = 2", "turns = 3"),
        ("14_valves/02_tokens", "tokens = 10000", "tokens = 100000"),
        ("14_valves/03_cost", "cost = 1.0", "cost = 100.0"),
        ("14_valves/04_cost_without_prices", "{ limits = { cost = 1.0 } }", "{}"),
        ("14_valves/05_time", "milliseconds = 50", "milliseconds = 60000"),
        ("14_valves/06_failures", "failures = 3", "failures = 9"),
        ("14_valves/07_failures_between_successes", "failures = 2", "failures = 1"),
        ("14_valves/08_identical_calls", "args = { query = \"a\" }", "args = { query = \"b\" }"),
        ("14_valves/09_a_failing_call_again", "times = 2", "times = 3"),
        (
            "14_valves/10_terminal_tool",
            "suggest_replies\", args = { replies = [\"Close it\", \"Wait\"] }",
            "list_members\", args = {}",
        ),
        (
            "14_valves/11_terminal_tool_beside_a_failure",
            "\"always_fails\", args = { name = \"one\" }",
            "\"list_members\", args = {}",
        ),
        ("14_valves/12_truncated_answer", "stop = \"length\"", ""),
        ("14_valves/13_truncated_text", "stop = \"length\"", ""),
        ("14_valves/14_tool_deadline", "60000", "1"),
        ("14_valves/15_huge_output", "500000", "90000"),
        ("14_valves/16_huge_output_spilled", ", spill = 4000", ""),
        ("14_valves/17_plan_size", ", { label = \"Step 31\" }", ""),
        ("14_valves/18_plan_step_length", "xx", ""),
        ("14_valves/19_context_slice", "90002", "2"),
        ("14_valves/20_approvals", "approvals = 2", "approvals = 3"),
        ("14_valves/21_injecting_output", "update_record\\\"", "get_record\\\""),
        ("05_reconnect_in_a_run", "lose = 3", "lose = 300"),
        (
            "22_another_model_goes_on",
            "args = { name = \"gpt-5.5\", dialect = \"responses\" }",
            "args = { name = \"claude-sonnet-4-6\", dialect = \"messages\" }",
        ),
    ];
    for (name, of, with) in broken {
        let text = std::fs::read_to_string(desk_evals().join(format!("{name}.toml"))).unwrap();
        assert!(text.contains(of), "{name} has no {of}");
        let at = if name.contains("08_identical") { 1 } else { usize::MAX };
        let text =
            if at == 1 { text.replacen(of, with, 2).replacen(with, of, 1) } else { text.replace(of, with) };
        put(&stage, &format!("broken/{name}.toml"), &text);
    }
    let ran = stage.mica(&["eval", "broken", "--report", "broken.json"]).await;
    assert_eq!(ran.code, Some(1));
    let report = report(&stage, "broken.json");
    let passed: Vec<&Value> =
        report["cases"].as_array().unwrap().iter().filter(|case| case["status"] == "passed").collect();
    assert_eq!(report["cases"].as_array().unwrap().len(), broken.len());
    assert!(passed.is_empty(), "{passed:?}");
}
