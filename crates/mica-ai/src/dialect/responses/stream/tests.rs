//! Recorded answers, and a check that every event the wire knows is among them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::dialect::fixtures::check_folder;
use crate::message::Dialect;

const FOLDER: &str = "src/dialect/responses/fixtures";

#[test]
fn answers_come_to_what_is_expected() {
    check_folder(Dialect::Responses, FOLDER);
}

/// Every event type of the wire, with its endings. Ignoring an event is a decision too, and has a fixture.
const EVENTS: &str = "
    response.{created,queued,in_progress,completed,incomplete,failed}
    response.output_item.{added,done}
    response.content_part.{added,done}
    response.output_text.{delta,done,annotation.added}
    response.refusal.{delta,done}
    response.reasoning_text.{delta,done}
    response.reasoning_summary_part.{added,done}
    response.reasoning_summary_text.{delta,done}
    response.function_call_arguments.{delta,done}
    response.custom_tool_call_input.{delta,done}
    response.mcp_call.{in_progress,completed,failed}
    response.mcp_call_arguments.{delta,done}
    response.mcp_list_tools.{in_progress,completed,failed}
    response.web_search_call.{in_progress,searching,completed}
    response.file_search_call.{in_progress,searching,completed}
    response.code_interpreter_call.{in_progress,interpreting,completed}
    response.code_interpreter_call_code.{delta,done}
    response.image_generation_call.{in_progress,generating,partial_image,completed}
    response.shell_call_command.{added,delta,done}
    response.shell_call_output_content.{delta,done}
    response.audio.{delta,done,transcript.delta,transcript.done}
";

#[test]
fn every_event_of_the_wire_has_a_fixture() {
    let mut wanted: BTreeSet<String> = BTreeSet::from(["error".to_owned()]);
    for line in EVENTS.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (stem, endings) = line.trim_end_matches('}').split_once('{').expect("a stem and its endings");
        wanted.extend(endings.split(',').map(|ending| format!("{stem}{ending}")));
    }
    assert_eq!(wanted.len(), 58);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "sse") {
            for line in fs::read_to_string(path).unwrap().lines() {
                if let Some(name) = line.strip_prefix("event: ") {
                    wanted.remove(name);
                }
            }
        }
    }
    assert!(wanted.is_empty(), "no fixture for {wanted:?}");
}
