//! What scripted extensions can do, each thing through the public surface.

mod support;

use std::sync::Arc;
use std::time::Duration;

use mica_ext::script::{self, Bundle, Setting};
use mica_ext::{Deadlines, Extensions, Moment, Typed};
use serde_json::json;
use support::{Stage, factory, load, notices, only, run};

fn echo(args: serde_json::Value) -> [(&'static str, serde_json::Value); 1] {
    [("echo", args)]
}

#[tokio::test(flavor = "multi_thread")]
async fn what_tool_call_handlers_return_counts() {
    for (handler, expected, asked) in [
        ("() => {}", "{\"n\":1}", None),
        ("() => ({ block: true })", "Not run: the extension x says no: it gave no reason", None),
        ("() => ({ block: true, reason: 'no' })", "Not run: the extension x says no: no", None),
        ("() => ({ block: false })", "{\"n\":1}", None),
        ("() => ({ ask: true, reason: 'really?' })", "{\"n\":1}", Some("x: really?")),
        ("() => ({ input: { n: 2 } })", "{\"n\":2}", None),
        ("() => ({ input: { n: 5 }, ask: true, reason: 'five?' })", "{\"n\":5}", Some("x: five?")),
        ("(event) => { event.input.n = 3; }", "{\"n\":3}", None),
        ("(event) => { event.input = { n: 4 }; }", "{\"n\":4}", None),
        (
            "(event) => ({ block: event.toolName === 'echo' && event.toolCallId === 'c0', reason: event.type })",
            "Not run: the extension x says no: tool_call",
            None,
        ),
        (
            "() => ({ blocked: true })",
            "Not run: the extension x says no: its check failed (TypeError: a handler of tool_call returned \"blocked\", \
             which means nothing; it may return: block, ask, reason, input), which means no",
            None,
        ),
        (
            "() => true",
            "Not run: the extension x says no: its check failed (TypeError: a handler of tool_call returns nothing or a \
             plain object with: block, ask, reason, input), which means no",
            None,
        ),
        (
            "() => new Map([['block', true]])",
            "Not run: the extension x says no: its check failed (TypeError: a handler of tool_call returns nothing or a \
             plain object with: block, ask, reason, input), which means no",
            None,
        ),
        (
            "async () => new Error('no')",
            "Not run: the extension x says no: its check failed (TypeError: a handler of tool_call returns nothing or a \
             plain object with: block, ask, reason, input), which means no",
            None,
        ),
        (
            "() => new (class { block = true; })()",
            "Not run: the extension x says no: its check failed (TypeError: a handler of tool_call returns nothing or a \
             plain object with: block, ask, reason, input), which means no",
            None,
        ),
        (
            "() => ({ input: null })",
            "Not run: the extension x says no: its check failed (TypeError: a handler of tool_call changed the input \
             to something that is no plain object), which means no",
            None,
        ),
        (
            "(event) => { event.input = undefined; }",
            "Not run: the extension x says no: its check failed (TypeError: a handler of tool_call changed the input \
             to something that is no plain object), which means no",
            None,
        ),
        (
            "(event) => { delete event.input; }",
            "Not run: the extension x says no: its check failed (TypeError: a handler of tool_call changed the input \
             to something that is no plain object), which means no",
            None,
        ),
        (
            "() => ({ reason: 'no' })",
            "Not run: the extension x says no: its check failed (TypeError: a handler of tool_call returned a reason \
             without block or ask), which means no",
            None,
        ),
        (
            "() => ({ __proto__: null, block: true })",
            "Not run: the extension x says no: it gave no reason",
            None,
        ),
        ("() => null", "{\"n\":1}", None),
        (
            "() => { throw new Error('oh') }",
            "Not run: the extension x says no: its check failed (oh (at x.ts:2:39)), which means no",
            None,
        ),
        (
            "(event) => { event.input = 7; }",
            "Not run: the extension x says no: its check failed (TypeError: a handler of tool_call changed the input \
             to something that is no plain object), which means no",
            None,
        ),
    ] {
        let source = factory(&format!("api.on('tool_call', {handler});"));
        let ran = run(&only(&Stage::new(), &source).await, &echo(json!({ "n": 1 }))).await;
        assert_eq!(
            (ran.results, ran.asks),
            (vec![expected.to_owned()], asked.map(str::to_owned).into_iter().collect())
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn handlers_see_what_those_before_them_changed() {
    let source = factory(
        "api.on('tool_call', (event) => ({ input: { n: event.input.n + 1 } }));
         api.on('tool_call', async (event) => { event.input.n *= 10; });
         api.on('tool_result', (event) => ({ content: [...event.content, { type: 'text', text: 'seen' }] }));
         api.on('tool_result', (event) => ({ content: `${event.content.length} ${event.isError}`, isError: true, details: event.input }));",
    );
    let ran = run(&only(&Stage::new(), &source).await, &echo(json!({ "n": 1 }))).await;
    assert_eq!(ran.results, ["2 false"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_sent_can_be_changed() {
    let source = factory(
        "api.on('context', ({ messages }) => ({ messages: [
            ...messages.map((m) => m.role === 'toolResult' ? { ...m, content: 'short' } : m),
            { role: 'user', content: 'Mind the gap.' },
        ] }));",
    );
    let ran = run(&only(&Stage::new(), &source).await, &echo(json!({ "n": 1 }))).await;
    assert_eq!((ran.results, ran.notices), (vec!["{\"n\":1}".to_owned()], Vec::new()), "what is kept stays");
    let sent = format!("{:?}", ran.model.requests()[1].messages);
    assert!(sent.contains("Mind the gap.") && sent.contains("Text { text: \"short\" }"), "{sent}");
    let source = factory(
        "api.on('context', ({ messages }) => ({ messages: messages.map((m) => m.role === 'assistant' ? { ...m, content: [] } : m) }));",
    );
    let ran = run(&only(&Stage::new(), &source).await, &echo(json!({ "n": 1 }))).await;
    assert_eq!(
        ran.notices,
        [
            "extension x: its change of the context failed and is left out until extensions are loaded anew: an answer of \
          the model was changed: leave it out or leave it"
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_scripts_are_called() {
    let source = r#"
        import { StringEnum, Type } from "mica";
        import { Type as Same } from "@sinclair/typebox";
        export default (api: any) => {
            if (Same.String().type !== "string") throw new Error("not the same");
            api.registerTool({
                name: "greet", label: "Greet", description: "Greets.", readOnly: true,
                parameters: Type.Object({
                    name: Type.String({ description: "Who." }), how: Type.Optional(StringEnum(["loud", "soft"])),
                    times: Type.Optional(Type.Union([Type.Literal(1), Type.Literal(2)])), more: Type.Array(Type.Integer()),
                }),
                async execute(id: string, params: any, signal: any, onUpdate: any, ctx: any) {
                    onUpdate({ content: [{ type: "text", text: "half" }] });
                    if (params.name === "nobody") throw new Error("there is nobody");
                    return { content: [{ type: "text", text: `Hi ${params.name} ${id} ${signal.aborted} ${ctx.cwd}` },
                        { type: "image", data: "AAAA", mimeType: "image/png" }], details: { a: 1 } };
                },
            });
            api.registerTool({ name: "write_it", description: "Writes.", parameters: { type: "object" }, execute: () => "done" });
        };"#;
    let extensions = only(&Stage::new(), source).await;
    let tools = extensions.tools(|_| false);
    let spec = tools[0].spec();
    assert_eq!(
        spec.schema,
        json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "description": "Who." },
                "how": { "type": "string", "enum": ["loud", "soft"] },
                "times": { "type": "number", "enum": [1, 2] },
                "more": { "type": "array", "items": { "type": "integer" } },
            },
            "required": ["name", "more"],
        })
    );
    let facts = |at: usize| {
        let spec = tools[at].spec();
        format!("{} {} {:?} {:?} {:?}", spec.name, spec.label, spec.access, spec.effect, spec.approval)
    };
    assert_eq!(facts(0), "greet Greet Read Pure NotNeeded");
    assert_eq!(facts(1), "write_it write_it Write Unsafe Needed");
    let calls = [
        ("greet", json!({ "name": "Ann", "more": [] })),
        ("greet", json!({ "name": "nobody", "more": [] })),
        ("write_it", json!({})),
    ];
    let ran = run(&extensions, &calls).await;
    assert_eq!(
        ran.results,
        [
            "Hi Ann c0 false /project|[image/png]",
            "greet failed: there is nobody (at execute (x.ts:14:61))",
            "done"
        ]
    );
    assert_eq!(ran.asks, ["write_it asks before it runs"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_world_is_asked_within_permissions() {
    let stage = Stage::with_person([json!(1), json!("Ann"), json!(1)]);
    let declared = "// @mica-extension {\"permissions\": [\"exec:git\", \"fetch:*.example.com\", \"storage\", \"messages\", \"agent\"]}\n";
    let source = format!(
        "{declared}{}",
        factory(
            "api.registerCommand('all', { description: 'All.', handler: async (args, ctx) => {
                const out = [args];
                const caught = async (work) => { try { return await work(); } catch (error) { return String(error); } };
                out.push(await caught(() => ctx.ui.select({ title: 'Which?', options: [{ label: 'a', value: { a: 1 } }, { label: 'b', value: [2] }] })));
                out.push(await caught(() => ctx.ui.input('Who?', 'name')));
                out.push(await caught(() => ctx.ui.select('Plain?', ['p', 'q'])));
                ctx.ui.notify('psst', 'warning'); ctx.ui.setStatus('k', 'v'); ctx.ui.setStatus('k');
                out.push([ctx.hasUI, ctx.cwd, ctx.isIdle(), ctx.getContextUsage(), ctx.getSystemPrompt(), ctx.signal.aborted]);
                out.push((await api.exec('git', ['status'], { cwd: 'sub', timeout: 5 })).stdout);
                out.push(await caught(() => api.exec('sh', ['-c', 'x'])));
                out.push(await caught(() => api.exec('git status')));
                out.push(await caught(() => api.exec(['/usr/bin/git'])));
                const got = await api.fetch('https://api.example.com/a', { method: 'post', headers: { B: 'c' } });
                out.push([got.ok, got.headers.get('Content-Type'), await got.json()]);
                out.push(await caught(() => api.fetch('https://example.org/')));
                out.push(await caught(() => api.fetch('file:///etc/passwd')));
                await api.storage.set('k', { v: 1 });
                out.push([await api.storage.get('k'), await api.storage.get('none') === undefined, await api.storage.keys()]);
                await api.storage.delete('k');
                out.push([await api.storage.keys(), await api.appendEntry('todo', [1]), await api.getEntries('todo'), await api.getEntries('other')]);
                out.push([api.getActiveTools(), api.getAllTools().length, api.getThinkingLevel()]);
                api.setActiveTools(['read']); api.setThinkingLevel('high'); api.abort();
                api.sendMessage({ customType: 't', content: 'note' }, { deliverAs: 'followUp' });
                api.sendUserMessage('go on');
                return JSON.stringify(out, null, 1);
            } });"
        )
    );
    let extensions = only(&stage, &source).await;
    let Some(Ok(Typed::Handled(Some(shown)))) = extensions.command("all", "now").await else { panic!() };
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let undeclared = |what: &str| {
        json!(format!(
            "Error: this needs the permission {what}, which the extension does not declare: add it to the permissions in \
             its manifest"
        ))
    };
    assert_eq!(
        shown,
        json!([
            "now",
            [2],
            "Ann",
            "q",
            [true, "/project", false, { "tokens": 50, "contextWindow": 200, "percent": 25 }, "Be good.", false],
            "out",
            undeclared("exec:sh"),
            undeclared("exec"),
            undeclared("exec"),
            [true, "application/json", { "a": 1 }],
            undeclared("fetch:example.org"),
            "Error: file:///etc/passwd: no address of the web",
            [{ "v": 1 }, true, ["k"]],
            [[], "e0", [{ "id": "e0", "customType": "todo", "data": [1] }], []],
            [["read"], 2, "low"],
        ])
    );
    assert_eq!(
        stage.asked(),
        [
            "x select \"Which?\" [\"a\", \"b\"]",
            "x input \"Who?\" \"name\"",
            "x select \"Plain?\" [\"p\", \"q\"]",
            "x notify \"psst\" Warn",
            "x status k Some(\"v\")",
            "x status k None",
            "x exec [\"git\", \"status\"] Some(\"sub\") 5ms",
            "x fetch POST https://api.example.com/a [(\"B\", \"c\")]",
            "x tools [\"read\"]",
            "x thinks high",
            "x aborts",
            "x says [Text { text: \"note\" }] Extension FollowUp false",
            "x says [Text { text: \"go on\" }] User Steer true",
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_granted_is_refused() {
    let source = format!(
        "// @mica-extension {{\"permissions\": [\"storage\"]}}\n{}",
        factory("api.registerCommand('s', { handler: async () => { await api.storage.set('a', 1); } });")
    );
    let stage = Stage::new();
    let bundle = Bundle::of_source("x", &source).unwrap();
    let extension = script::load(&bundle, Setting::new(stage)).await.unwrap();
    let told = Extensions::new(vec![extension]).command("s", "").await;
    let expected =
        "extension x: /s: this needs the permission storage, which the user has not granted to the extension";
    assert_eq!(told, Some(Err(expected.to_owned())));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_typed_and_what_joins_a_prompt() {
    let source = factory(
        "api.on('input', ({ text }) => text === 'ls' ? { action: 'transform', text: 'List the files.' } : undefined);
         api.on('input', (event, ctx) => {
             if (event.text === 'help') { ctx.ui.notify('Help.', 'info'); return { action: 'handled' }; }
             if (event.text === 'bad') return { action: 'block', reason: 'not nice' };
             return { action: 'continue' };
         });
         api.on('before_agent_start', (event) => ({ systemPrompt: event.systemPrompt + ' And quick.' }));
         api.on('before_agent_start', (event) => ({ message: { customType: 'c', content: `You said ${event.prompt}` } }));
         api.registerCommand('twice', { description: 'Twice.', handler: (args) => ({ prompt: args + args }) });
         api.registerShortcut('ctrl+g', { description: 'Greets.', handler: (ctx) => ctx.ui.notify('hi') });",
    );
    let stage = Stage::new();
    let extensions = only(&stage, &source).await;
    for (typed, expected) in [
        ("ls", Typed::Instead("List the files.".to_owned())),
        ("help", Typed::Handled(None)),
        ("bad", Typed::Refused("not nice".to_owned())),
        ("other", Typed::Go),
    ] {
        assert_eq!(extensions.typed(typed).await, expected);
    }
    let said = extensions.before_run("Go").await;
    assert_eq!(said[0].text, "And quick.\n\nYou said Go");
    assert_eq!(extensions.command("twice", "ha").await, Some(Ok(Typed::Instead("haha".to_owned()))));
    assert_eq!(extensions.shortcut("ctrl+g").await, Some(Ok(())));
    assert_eq!(stage.asked(), ["x notify \"Help.\" Info", "x notify \"hi\" Info"]);
    let told = extensions.commands();
    assert_eq!((told[0].name.as_str(), told[0].description.as_str()), ("twice", "Twice."));
}

#[tokio::test(flavor = "multi_thread")]
async fn moments_are_told_and_one_that_fails_is_left_out() {
    let all: Vec<&str> = Moment::KINDS.to_vec();
    let source = factory(&format!(
        "for (const kind of {all:?}) api.on(kind, (event) => console.log(kind, event.turnIndex ?? event.reason ?? event.outcome ?? event.answer ?? ''));
         api.on('turn_end', () => {{ throw new RangeError('too many') }});"
    ));
    let stage = Stage::new();
    let extensions = only(&stage, &source).await;
    extensions.tell(&Moment::SessionStart { reason: "startup" }).await;
    let ran = run(&extensions, &echo(json!({ "n": 1 }))).await;
    let told: Vec<String> =
        stage.log().iter().map(|line| line.replace("x Info ", "").trim().to_owned()).collect();
    let told: Vec<&str> =
        told.iter().map(String::as_str).filter(|line| !line.starts_with("message_")).collect();
    assert_eq!(
        told,
        [
            "session_start startup",
            "agent_start",
            "turn_start 1",
            "tool_execution_start",
            "tool_execution_end",
            "turn_end 1",
            "turn_start 2",
            "agent_end completed"
        ]
    );
    assert!(stage.log().iter().any(|line| line == "x Info message_update "), "pieces are told");
    assert_eq!(
        ran.notices,
        [
            "extension x: its handler of turn_end failed and is left out until extensions are loaded anew: RangeError: too \
          many (at x.ts:3:47)"
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn one_call_goes_on_while_another_waits() {
    let stage = Stage::new();
    let gate = Arc::new(tokio::sync::Notify::new());
    *stage.gate.lock().unwrap() = Some(gate.clone());
    let source = format!(
        "// @mica-extension {{\"permissions\": [\"exec\"]}}\n{}",
        factory(
            "let open = 0;
             api.registerCommand('slow', { handler: async () => { open += 1; await api.exec('sleep', ['1']); return `slow ${open}`; } });
             api.registerCommand('quick', { handler: () => { open += 1; return `quick ${open}`; } });"
        )
    );
    let extensions = only(&stage, &source).await;
    let slow = tokio::spawn({
        let extensions = extensions.clone();
        async move { extensions.command("slow", "").await }
    });
    while stage.asked().is_empty() {
        tokio::task::yield_now().await;
    }
    let shown = |text: &str| Some(Ok(Typed::Handled(Some(text.to_owned()))));
    assert_eq!(extensions.command("quick", "").await, shown("quick 2"));
    gate.notify_one();
    assert_eq!(slow.await.unwrap(), shown("slow 2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn timers_fire_between_calls_and_end_with_the_extension() {
    let stage = Stage::new();
    let source = factory(
        "let count = 0;
         const three = new Promise((done) => {
             const every = setInterval(() => { count += 1; if (count === 3) { clearInterval(every); done(count); } }, 1);
         });
         const sum = new Promise((done) => setTimeout((a, b) => done(a + b), 2, 1, 2));
         const never = setTimeout(() => api.abort(), 1);
         clearTimeout(never);
         api.registerCommand('wait', { handler: async () => `waited ${await three} ${await sum}` });",
    );
    let extensions = only(&stage, &source).await;
    let waited =
        tokio::time::timeout(Duration::from_secs(100), extensions.command("wait", "")).await.unwrap();
    assert_eq!(waited, Some(Ok(Typed::Handled(Some("waited 3 3".to_owned())))));
    assert_eq!(stage.asked(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_is_stopped_is_told_and_may_say_how_far_it_came() {
    use mica_agent::{Args, RunId, ToolCx};
    let stage = Stage::new();
    *stage.gate.lock().unwrap() = Some(Arc::new(tokio::sync::Notify::new()));
    let source = format!(
        "// @mica-extension {{\"permissions\": [\"exec\"]}}\n{}",
        factory(
            "api.registerTool({ name: 'works', description: 'Works.', parameters: { type: 'object' },
                execute: async (id, params, signal) => {
                    const told = [];
                    signal.addEventListener('abort', () => told.push('heard'));
                    try { await api.exec('make', ['all']); } catch (error) { told.push(error.message); }
                    return `${told} ${signal.aborted} ${signal.reason?.name}`;
                } });"
        )
    );
    let extensions = only(&stage, &source).await;
    let tool = extensions.tools(|_| false).remove(0);
    let cancel = tokio_util::sync::CancellationToken::new();
    let cx = ToolCx::new(RunId::fresh(), "c".into(), cancel.clone(), |_| {});
    let called = tokio::spawn(async move { tool.call(Args::new(), &cx).await });
    while stage.asked().is_empty() {
        tokio::task::yield_now().await;
    }
    cancel.cancel();
    let output = called.await.unwrap().unwrap();
    assert_eq!(
        format!("{:?}", output.content),
        "[Text { text: \"heard,the call was stopped true AbortError\" }]"
    );
    assert!(extensions.list()[0].failure.is_none(), "it goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_loaded_says_why() {
    for (source, expected) in [
        (
            "export default 5;",
            "TypeError: the file must export a function as its default: export default (api) => { … }",
        ),
        (
            "let a = ;",
            "Syntax error in x.ts, line 1, column 9: Unexpected token\n1 | let a = ;\n            ^",
        ),
        ("import fs from 'fs'; export default () => fs;", "There is no module `fs`. There is: x.ts."),
        (&factory("api.on('tool_cal', () => {});"), "TypeError: there is no event \"tool_cal\"; there is:"),
        (&factory("api.on('turn_end', 5);"), "TypeError: a handler must be a function (at"),
        (&factory("throw new Error('not today');"), "not today (at default (x.ts:2:11))"),
        (
            &factory("api.registerTool({ name: 'a b' });"),
            "TypeError: a tool's name \"a b\" must have 1 to 64 letters",
        ),
        (
            &factory(
                "api.registerTool({ name: 'a', description: '', parameters: { type: 'array' }, execute() {} });",
            ),
            "its tool a cannot be used: its parameters must be a schema of an object",
        ),
        (
            &factory(
                "api.registerTool({ name: 'a', description: '', parameters: { type: 'object', properties: 5 }, execute() {} });",
            ),
            "its tool a cannot be used: the schema is not valid at #/properties",
        ),
    ] {
        let error = load(&Stage::new(), source).await.err().unwrap().to_string();
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
    let late = factory("api.on('turn_end', () => api.on('turn_start', () => {}));");
    let extensions = only(&Stage::new(), &late).await;
    extensions.tell(&Moment::TurnEnd { turn: 1 }).await;
    let told = notices(&extensions);
    assert!(told[0].contains("works only while the extension is loaded"), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_thinks_is_waited_for_and_a_program_is_not() {
    let source = format!(
        "// @mica-extension {{\"permissions\": [\"exec\"]}}\n{}",
        factory(
            "api.on('tool_call', async (event, ctx) => {
                if (event.input.ask) return { block: !(await ctx.ui.confirm('Really?')), reason: 'no' };
                await api.exec('slow', []);
            });"
        )
    );
    let stage = Stage::with_person([json!(true)]);
    // Both take longer than a guard may.
    *stage.takes.lock().unwrap() = Duration::from_millis(4_000);
    let deadlines = Deadlines { guard: Duration::from_secs(3), ..Deadlines::default() };
    let loaded = load(&stage, &source).await.unwrap();
    let extensions = Extensions::with_deadlines(vec![loaded], deadlines);
    let ran = run(&extensions, &[("echo", json!({ "ask": true })), ("echo", json!({}))]).await;
    let late =
        "Not run: the extension x says no: its check failed (it did not answer within 3 s), which means no";
    assert_eq!(ran.results, ["{\"ask\":true}", late]);
    assert!(extensions.list()[0].failure.is_none(), "it may be quicker the next time");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_withdrawn_when_nobody_waits_for_its_answer() {
    let stage = Stage::with_person([]);
    *stage.takes.lock().unwrap() = Duration::from_secs(3600);
    let source = factory("api.registerCommand('ask', { handler: (_, ctx) => ctx.ui.confirm('Really?') });");
    // They outlive the call: with the script itself gone, there would be nobody to withdraw anything.
    let extensions = std::sync::Arc::new(only(&stage, &source).await);
    let calling = std::sync::Arc::clone(&extensions);
    let asking = tokio::spawn(async move { calling.command("ask", "").await });
    let seen = |count: usize| {
        let stage = stage.clone();
        async move {
            while stage.asked().len() < count {
                tokio::task::yield_now().await;
            }
        }
    };
    seen(1).await;
    asking.abort();
    tokio::time::timeout(Duration::from_secs(100), seen(2)).await.unwrap();
    assert_eq!(stage.asked(), ["x confirm \"\" \"Really?\"", "x withdrawn"]);
}
