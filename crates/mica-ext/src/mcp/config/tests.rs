//! Both shapes, variables, mistakes that spoil only their own server, and what a project may not say.

use super::*;

fn variable(name: &str) -> Option<String> {
    match name {
        "TOKEN" => Some("s3cret".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    }
}

fn parsed(text: &str, source: Source) -> Read {
    read(text, source, Path::new("/project"), &variable)
}

fn problems(text: &str) -> Vec<String> {
    parsed(text, Source::User).problems.iter().map(ToString::to_string).collect()
}

#[test]
fn both_shapes_are_read() {
    let read = parsed(
        r#"{
            "servers": { "database": { "transport": "stdio", "command": "npx", "args": ["-y", "x"], "env": { "A": "1" } } },
            "mcpServers": {
                "api": { "type": "streamable-http", "url": "https://a.example:81/mcp?key=${TOKEN}",
                         "headers": { "Authorization": "Bearer ${TOKEN}" }, "timeout": 5000 },
                "bare": { "url": "http://localhost:3001/mcp", "disabled": true }
            }
        }"#,
        Source::User,
    );
    assert_eq!(read.problems, []);
    let names: Vec<&str> = read.servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["api", "bare", "database"]);
    let api = &read.servers[0];
    assert_eq!(api.timeout, Duration::from_secs(5));
    assert_eq!(api.transport.shown(), "https://a.example:81/mcp?…");
    let Transport::Http { url, headers, .. } = &api.transport else { panic!("{api:?}") };
    assert_eq!(url.reveal(), "https://a.example:81/mcp?key=s3cret");
    assert_eq!(headers["Authorization"].reveal(), "Bearer s3cret");
    assert!(!format!("{read:?}").contains("s3cret"), "{read:?}");
    assert!(read.servers[1].disabled);
    let Transport::Stdio { command, args, env, confine, cwd } = &read.servers[2].transport else { panic!() };
    assert_eq!((command.as_str(), args.len(), env["A"].reveal()), ("npx", 2, "1"));
    assert_eq!((confine, cwd), (&Confine::Open, &None));
    assert_eq!(read.servers[2].timeout, CALL);
}

#[test]
fn variables_are_put_in_and_never_shown() {
    let check = |text: &str, expect: Result<&str, &str>| {
        let found = expand::expand(text, &variable);
        assert_eq!(found.as_deref().map_err(String::as_str), expect, "{text}");
    };
    check("a${TOKEN}b${TOKEN}", Ok("as3cretbs3cret"));
    check("${NONE:-x:-y}", Ok("x:-y"));
    check("${EMPTY:-x}", Ok("x"));
    check("${NONE:-}", Ok(""));
    check("${env:TOKEN}", Ok("s3cret"));
    check("$TOKEN $ {} 5$", Ok("$TOKEN $ {} 5$"));
    check("${NONE}", Err("needs the variable NONE, which is not set; set it, or write ${NONE:-…}"));
    check("${TOKEN", Err("has a ${ without a }"));
    check("${1x}", Err("has a ${…} with something inside that is no name of a variable"));
}

#[test]
fn one_mistake_spoils_only_its_server() {
    let text = r#"{ "mcpServers": {
        "fine": { "command": "x" },
        "old": { "type": "sse", "url": "http://x/sse" },
        "lost": { "command": "x", "env": { "K": "${NONE}" } },
        "file": { "url": "file:///x" },
        "none": {},
        "list": [],
        "args": { "command": "x", "args": "y" },
        "time": { "command": "x", "timeout": 0 },
        "head": { "url": "http://x", "headers": { "a b": "c" } }
    } }"#;
    let read = parsed(text, Source::User);
    assert_eq!(read.servers.len(), 1);
    let told: Vec<String> = read.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "the MCP server \"args\": its \"args\" are a list of texts",
            "the MCP server \"file\": its \"url\" begins with file:, and can begin with https: or http:",
            "the MCP server \"head\": its header \"a b\" cannot be sent",
            "the MCP server \"list\": it is no object",
            "the MCP server \"lost\": its \"env.K\" needs the variable NONE, which is not set; set it, or write ${NONE:-…}",
            "the MCP server \"none\": it needs a \"command\" to start or the \"url\" of one that runs",
            "the MCP server \"old\": its transport \"sse\" is the old one and is not supported; servers have another address \
             for \"http\", often the same with /mcp at its end",
            "the MCP server \"time\": its \"timeout\" is a number of seconds (or, from 1000 on, of milliseconds)",
        ]
    );
}

#[test]
fn files_that_are_none_are_told() {
    assert_eq!(problems(""), Vec::<String>::new());
    assert_eq!(problems("{"), ["it is no JSON: EOF while parsing an object at line 1 column 1"]);
    assert_eq!(problems("[]"), ["it is no JSON object with \"servers\" or \"mcpServers\""]);
    assert_eq!(
        problems("{}"),
        ["it has neither \"servers\" nor \"mcpServers\", an object with what each server is under its name"]
    );
}

#[test]
fn a_project_lets_nothing_run_without_asking() {
    let text = r#"{ "servers": { "fs": { "command": "x", "autoApprove": ["read_*"] } } }"#;
    let (own, theirs) = (parsed(text, Source::User), parsed(text, Source::Project));
    assert!(own.servers[0].approves("read_file") && !own.servers[0].approves("write_file"));
    assert!(own.problems.is_empty());
    assert!(!theirs.servers[0].approves("read_file"));
    assert_eq!(theirs.problems.len(), 1);
    // Of two of a name, the user's own counts.
    let joined = join([own, theirs]);
    assert_eq!(joined.servers.len(), 1);
    assert_eq!(joined.servers[0].source, Source::User);
    assert_eq!(
        joined.problems[1].to_string(),
        "the MCP server \"fs\": it is there twice; yours counts, and the project's does not"
    );
}

#[test]
fn tools_are_chosen() {
    let check = |members: &str, used: &[&str]| {
        let text = format!(r#"{{ "servers": {{ "s": {{ "command": "x"{members} }} }} }}"#);
        let server = parsed(&text, Source::User).servers.remove(0);
        let tools = ["read_a", "read_b", "write"];
        let found: Vec<&str> = tools.into_iter().filter(|tool| server.uses(tool)).collect();
        assert_eq!(found, used, "{members}");
    };
    check("", &["read_a", "read_b", "write"]);
    check(r#", "enabledTools": ["read_*"]"#, &["read_a", "read_b"]);
    check(r#", "allow": ["read_*", "write"], "deny": ["*_b"]"#, &["read_a", "write"]);
    check(r#", "disabledTools": ["write"]"#, &["read_a", "read_b"]);
}

#[test]
fn the_digest_names_what_was_written() {
    let digest = |text: &str| parsed(text, Source::User).servers.remove(0).digest;
    let one = digest(r#"{ "servers": { "s": { "command": "x", "args": ["a"] } } }"#);
    assert_eq!(one, digest(r#"{ "servers": { "s": { "args": ["a"], "command": "x" } } }"#));
    assert_ne!(one, digest(r#"{ "servers": { "s": { "command": "x", "args": ["b"] } } }"#));
    assert_ne!(one, digest(r#"{ "servers": { "t": { "command": "x", "args": ["a"] } } }"#));
}

#[test]
fn a_server_can_be_confined() {
    let confine = |sandbox: &str| {
        let text = format!(r#"{{ "servers": {{ "s": {{ "command": "x", "sandbox": {sandbox} }} }} }}"#);
        let mut read = parsed(&text, Source::User);
        match read.servers.pop().map(|server| server.transport) {
            Some(Transport::Stdio { confine, .. }) => Ok(confine),
            _ => Err(read.problems[0].problem.clone()),
        }
    };
    let project = |network: &[&str], write: &[&str], read_only| Confine::Project {
        network: network.iter().map(|host| (*host).to_owned()).collect(),
        write: write.iter().map(PathBuf::from).collect(),
        read_only,
    };
    assert_eq!(confine("false"), Ok(Confine::Open));
    assert_eq!(confine("true"), Ok(project(&[], &[], false)));
    assert_eq!(
        confine(r#"{ "network": ["a.example"], "write": ["out"], "readOnly": true }"#),
        Ok(project(&["a.example"], &["/project/out"], true))
    );
    assert_eq!(
        confine(r#"{ "network": ["a b"] }"#),
        Err("\"network\" of its \"sandbox\" has \"a b\", which is no host".to_owned())
    );
    assert!(confine("3").is_err());
}
