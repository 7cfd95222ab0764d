//! Extensions at a terminal: trust, questions, statuses, files that change, and commands of one's own.

use super::*;

fn put(person: &Person, path: &str, text: &str) {
    let path = person.folder.path().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Leaves, and comes back to a new session, after something was put somewhere.
fn begins_anew(person: &mut Person) {
    person.leaves();
    (person.keyboard, person.screen, person.program) = begin(&person.folder, &person.server, &[]);
    person.seen.clear();
}

const SAYS_NO: &str = "export default (api) => {\n  api.registerCommand('hello', { description: 'says hello', handler: async (args) => \
                       `hello ${args}` });\n};\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_asked_once_whether_a_project_is_trusted() {
    let mut person = Person::sits_down(Scenario::new()).await;
    person.sees("edit> ");
    put(&person, "project/.mica/extensions/hello.ts", SAYS_NO);
    begins_anew(&mut person);
    let asked = person.sees("[s]how: ");
    assert!(asked.contains("? This project brings things that change what mica does here."), "{asked:?}");
    assert!(asked.contains("  extension .mica/extensions/hello.ts ("), "{asked:?}");
    person.types("s\r");
    let shown = person.sees("[s]how: ");
    assert!(shown.contains("    export default (api) => {"), "{shown:?}");
    person.types("n\r");
    person.sees("… not used; `mica trust` changes that");
    person.sees("edit> ");
    person.types("/hello you\r");
    person.sees("there is no command /hello");
    person.sees("edit> ");
    // The answer is kept, and a change is another thing.
    begins_anew(&mut person);
    assert!(!person.sees("edit> ").contains("[s]how"));
    put(&person, "project/.mica/extensions/hello.ts", &format!("{SAYS_NO}// more\n"));
    begins_anew(&mut person);
    person.sees("[s]how: ");
    person.types("yes\r");
    person.sees("edit> ");
    person.types("/hello you\r");
    person.sees("hello you");
    person.sees("edit> ");
    put(&person, "project/.mica/extensions/hello.ts", &format!("{SAYS_NO}// still more\n"));
    begins_anew(&mut person);
    let asked = person.sees("[s]how: ");
    assert!(asked.contains("in a cage; changed since you trusted it"), "{asked:?}");
    person.types("no\r");
    person.sees("edit> ");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_dropped_counts_before_the_next_input() {
    let mut person = Person::sits_down(Scenario::new().turn(Turn::new().text("Yes."))).await;
    person.sees("edit> ");
    let status =
        "export default (api) => { api.on('turn_end', (_, ctx) => ctx.ui.setStatus('t', 'one turn')); };\n";
    put(&person, "home/config/extensions/status.ts", status);
    person.types("go\r");
    person.sees("… extension status is new: hears what happens");
    person.sees("Yes.");
    person.sees("[one turn] edit> ");
    put(&person, "home/config/extensions/status.ts", "export default (api) => { api.on( };\n");
    person.types("/ext\r");
    person.sees("… extension status is not used: Syntax error in status.ts, line 1, column");
    person.sees("failed");
    person.sees("edit> ");
    person.types("/reload\r");
    person.sees("nothing changed");
    person.sees("edit> ");
    // One that asks for something is asked about.
    let keeps = "// @mica-extension {\"permissions\": [\"storage\"]}\nexport default (api) => { api.registerCommand('keep', { \
                 description: 'keeps', handler: async (args) => { await api.storage.set('a', args); return 'kept ' + args; } }); };\n";
    put(&person, "home/config/extensions/keeps.ts", keeps);
    person.types("/help\r");
    let asked = person.sees("[s]how: ");
    assert!(
        asked.contains("The extension keeps (") && asked.contains(") asks for storage. Allow it?"),
        "{asked:?}"
    );
    person.types("y\r");
    person.sees("… extension keeps is new: commands /keep");
    person.sees("/keep              keeps (keeps)");
    person.sees("edit> ");
    person.types("/keep this\r");
    person.sees("kept this");
    person.sees("edit> ");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_extension_asks_a_person_in_a_run_and_between_runs() {
    let scenario = Scenario::new().turn(writes("a.txt")).turn(Turn::new().text("Written."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    let asks = "export default (api) => {\n\
                api.on('tool_call', async (event, ctx) => (await ctx.ui.confirm('Write ' + event.input.path + '?')) ? undefined : \
                { block: true, reason: 'no' });\n\
                api.registerCommand('pick', { description: 'picks', handler: async (_, ctx) => { \
                const one = await ctx.ui.select('Which?', ['red', 'blue']); const name = await ctx.ui.input('Name?', 'short'); \
                return `${one} ${name}`; } });\n};\n";
    put(&person, "home/config/extensions/asks.ts", asks);
    person.types("/pick\r");
    let asked = person.sees("or /decline:");
    assert!(asked.contains("? asks: Which?\r\n  1  red\r\n  2  blue"), "{asked:?}");
    person.types("2\r");
    let asked = person.sees("your words, or /decline:");
    assert!(asked.contains("? asks: Name? (short)"), "{asked:?}");
    person.types("12 monkeys\r");
    person.sees("blue 12 monkeys");
    person.sees("edit> ");
    person.types("write\r");
    let asked = person.sees("or /decline:");
    assert!(asked.contains("? asks: Write a.txt?\r\n  1  Yes\r\n  2  No"), "{asked:?}");
    person.types("1\r");
    // What the extension lets pass, the program still asks about.
    person.sees("? file_write");
    person.sees("instead:");
    person.types("y\r");
    person.sees("Written.");
    person.sees("edit> ");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_typed_with_a_slash_may_be_an_extensions_to_expand() {
    let mut person = Person::sits_down(Scenario::new().turn(Turn::new().text("Tested."))).await;
    person.sees("edit> ");
    let alias =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/extensions/input-alias.ts");
    put(&person, "home/config/extensions/alias.ts", &std::fs::read_to_string(alias).unwrap());
    person.types("/nope\r");
    person.sees("… extension alias is new: looks at what is typed");
    person.sees("there is no command /nope; /help lists them");
    person.sees("edit> ");
    person.types("/t the parser\r");
    person.sees("Tested.");
    person.sees("edit> ");
    let sent = person.server.captured()[0].json["messages"].to_string();
    assert!(sent.contains("Write tests for the parser. Run them"), "{sent}");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_of_ones_own_runs_in_the_sandbox_and_is_told() {
    let mut person = Person::sits_down(Scenario::new().turn(Turn::new().text("I see."))).await;
    person.sees("edit> ");
    person.types("!echo one two; exit 3\r");
    let shown = person.sees("[it ended with 3]");
    assert!(shown.contains("one two\r\n"), "{shown:?}");
    person.sees("edit> ");
    person.types("!echo x > .mica/config.toml\r");
    person.sees("✗ it was not run: not allowed: ");
    person.sees("edit> ");
    person.types("what was that?\r");
    person.sees("I see.");
    person.sees("edit> ");
    let sent = person.server.captured()[0].json["messages"].to_string();
    assert!(sent.contains(r"$ echo one two; exit 3\none two\n[it ended with 3]"), "{sent}");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_extension_asks_when_a_session_begins_and_nobody_answers_when_it_is_over() {
    let mut person = Person::sits_down(Scenario::new()).await;
    person.sees("edit> ");
    let asks = "export default (api) => {\n\
                api.on('session_start', async (_, ctx) => { ctx.ui.notify('begins ' + await ctx.ui.confirm('Begin?')); });\n\
                api.on('session_shutdown', async (_, ctx) => { ctx.ui.notify('ends ' + await ctx.ui.confirm('End?')); });\n};\n";
    put(&person, "home/config/extensions/asks.ts", asks);
    begins_anew(&mut person);
    person.sees("? asks: Begin?");
    person.sees("or /decline:");
    person.types("1\r");
    person.sees("begins true");
    person.sees("edit> ");
    // Those that go are asked where somebody listens, and so are those that come.
    person.types("/reload\r");
    person.sees("? asks: End?");
    person.sees("or /decline:");
    person.types("2\r");
    person.sees("ends false");
    person.sees("? asks: Begin?");
    person.sees("or /decline:");
    person.types("1\r");
    person.sees("begins true");
    person.sees("edit> ");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_of_extensions_do_something_at_the_prompt_and_leave_the_line() {
    let mut person = Person::sits_down(Scenario::new()).await;
    person.sees("edit> ");
    let keys = "export default (api) => {
        api.registerShortcut('ctrl+t', { description: 'counts', handler: async (ctx) => ctx.ui.notify('pressed it', 'info') });
        api.registerShortcut('f5', { description: 'fails', handler: async () => { throw new Error('no such luck'); } });
        api.registerShortcut('ctrl+c', { description: 'never', handler: async () => {} });
      };\n";
    put(&person, "home/config/extensions/keys.ts", keys);
    begins_anew(&mut person);
    person.sees("extension keys: its key ctrl+c is not bound: it belongs to the line editor or the terminal");
    person.sees("edit> ");
    person.types("/hel\x14");
    person.sees("pressed it");
    // What was typed is in the line again, and goes on.
    person.sees("edit> /hel");
    person.types("p\r");
    person.sees("/quit              leave");
    person.sees("edit> ");
    person.types("\x1b[15~");
    person.sees("no such luck");
    person.sees("edit> ");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn extensions_hear_that_a_person_went_elsewhere_or_made_another_session() {
    let scenario = Scenario::new().turn(Turn::new().text("One.")).turn(Turn::new().text("Two."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    let hears = "export default (api) => {
        api.on('session_start', (event, ctx) => ctx.ui.notify(`started by ${event.reason}`, 'info'));
        api.on('session_fork', (event, ctx) => ctx.ui.notify(`forked ${event.sessionId.length > 8}`, 'info'));
      };\n";
    put(&person, "home/config/extensions/hears.ts", hears);
    begins_anew(&mut person);
    person.sees("started by startup");
    person.sees("edit> ");
    person.types("a first question\r");
    person.sees("One.");
    person.sees("edit> ");
    person.types("/fork\r");
    person.sees("forked true");
    person.sees("is a new session; this one goes on");
    person.sees("edit> ");
    person.types("/tree\r");
    let tree = person.sees("edit> ");
    let entry = tree.lines().find(|line| line.contains("a first question")).unwrap();
    let entry = entry.split_whitespace().find(|word| word.len() == 8).unwrap();
    person.types(&format!("/goto {entry}\r"));
    person.sees("what should be remembered");
    person.types("\r");
    person.sees("started by goto");
    person.sees("edit> ");
    person.types("\x15");
    person.leaves();
}
