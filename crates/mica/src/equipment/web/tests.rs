//! Settings in, tools out.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use super::*;

fn equipped(settings: &str, variables: &[(&str, &str)]) -> Result<(Vec<String>, Vec<String>)> {
    let values = Values::deserialize(settings.parse::<toml::Table>().unwrap()).unwrap();
    let variables: BTreeMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let surroundings = Surroundings {
        variables,
        folder: PathBuf::new(),
        config: PathBuf::new(),
        data: PathBuf::new(),
        stdin_is_terminal: false,
        columns: 80,
    };
    let mut notices = Vec::new();
    let (part, _) = equip(&values, &surroundings, &mut notices)?;
    let tools = part.capabilities.iter().flat_map(|one| &one.tools).map(|tool| tool.spec().name.clone());
    Ok((tools.collect(), notices))
}

#[track_caller]
fn check(settings: &str, variables: &[(&str, &str)], tools: &[&str], notices: usize) {
    let (found, told) = equipped(settings, variables).unwrap();
    assert_eq!(
        (found.as_slice(), told.len()),
        (tools.iter().map(|tool| (*tool).to_owned()).collect::<Vec<_>>().as_slice(), notices),
        "{settings}"
    );
}

#[test]
fn a_tool_is_there_when_it_can_do_something() {
    check("", &[], &["web_fetch"], 0);
    check("web.fetch = false", &[], &[], 0);
    check("web.search_url = 'http://localhost:8888'", &[], &["web_fetch", "web_search"], 0);
    check("web.search_url = 'http://localhost:8888'\nweb.fetch = false", &[], &["web_search"], 0);
    check("web.search_url = 'http://localhost:8888'\nweb.search = 'off'", &[], &["web_fetch"], 0);
    check("web.search = 'brave'", &[("BRAVE_API_KEY", "k")], &["web_fetch", "web_search"], 0);
    check("web.search = 'brave'", &[], &["web_fetch"], 1);
    check(
        "web.search = 'brave'\nweb.search_key_env = 'MINE'",
        &[("MINE", "k")],
        &["web_fetch", "web_search"],
        0,
    );
    check("web.search = 'tavily'", &[("TAVILY_API_KEY", "k")], &["web_fetch", "web_search"], 0);
    let (_, notices) = equipped("web.search = 'tavily'", &[("TAVILY_API_KEY", " ")]).unwrap();
    assert_eq!(
        notices,
        [
            "the web is not searched: tavily needs a key, and TAVILY_API_KEY is not set (search_key_env under [web] names \
          another variable)"
        ]
    );
}

#[test]
fn what_is_wrong_says_where() {
    for (settings, expect) in [
        (
            "web.private_hosts = ['http://a']",
            "private_hosts under [web] is wrong: \"http://a\" is no host to allow: say the host alone, such as example.org or \
             example.org:8443",
        ),
        (
            "web.search = 'searxng'",
            "search = \"searxng\" under [web] needs search_url, the address of the instance",
        ),
        (
            "web.search = 'google'",
            "search under [web] is wrong: there is no search service \"google\"; those that are known are searxng, brave and \
             tavily",
        ),
        (
            "web.search_url = 'localhost:8888'",
            "search_url under [web] is wrong: \"localhost:8888\" cannot be fetched: give the whole address, such as \
             https://localhost:8888",
        ),
    ] {
        let error = equipped(settings, &[]).unwrap_err();
        assert_eq!(format!("{error:#}"), expect, "{settings}");
    }
}
