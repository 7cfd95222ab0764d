//! Builds with the real Maven, offline and with a repository on this machine; and without any.
//!
//! Needs Maven and the plugins that Debian packages (`maven`, `libmaven-compiler-plugin-java` and others, see `cargo xtask
//! test`). Tests that need them say so and pass where they are missing.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "helpers of tests are tests"
)]

mod stage;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pack_mi::runtime::{MavenChoice, RuntimeSettings};
use serde_json::json;
use stage::{Stage, args, call, cx, tool};
use tokio_util::sync::CancellationToken;

const BUILD: &str = "build_project";

/// The plugins of Maven on this machine.
fn plugins() -> Option<PathBuf> {
    let named = std::env::var_os("MICA_TEST_MAVEN").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| Path::new("/usr/share").join("maven-repo"));
    let has = |name: &str| folder.join("org/apache/maven/plugins").join(name).is_dir();
    let all = ["maven-clean-plugin", "maven-compiler-plugin", "maven-antrun-plugin", "maven-install-plugin"];
    let on_path = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|one| one.join("mvn").is_file()));
    if on_path && all.into_iter().all(has) {
        return Some(folder);
    }
    println!(
        "SKIP: there is no mvn, or not its plugins in {}; cargo xtask test installs them",
        folder.display()
    );
    None
}

/// A project for Maven whose archive is packed by a stand-in of the plugin.
fn project(stage: &Stage, repository: &str, packing: &str, more: &str) -> RuntimeSettings {
    let plugin = |name: &str, version: &str, rest: &str| {
        format!(
            "<plugin><artifactId>maven-{name}-plugin</artifactId><version>{version}</version><dependencies><dependency>\
             <groupId>org.codehaus.plexus</groupId><artifactId>plexus-utils</artifactId><version>2.x</version></dependency>\
             </dependencies>{rest}</plugin>"
        )
    };
    let execution = |phase: &str, goal: &str, rest: &str| {
        format!(
            "<executions><execution><phase>{phase}</phase><goals><goal>{goal}</goal></goals>{rest}</execution></executions>"
        )
    };
    let configuration = format!("<configuration><target>{packing}</target></configuration>");
    stage.put(
        "pom.xml",
        &format!(
            "<project xmlns=\"http://maven.apache.org/POM/4.0.0\">\n<modelVersion>4.0.0</modelVersion>\n<groupId>com.acme</groupId>\n\
             <artifactId>orders</artifactId>\n<version>1.0.0</version>\n<packaging>pom</packaging>\n<properties>\n\
             <maven.compiler.source>11</maven.compiler.source>\n<maven.compiler.target>11</maven.compiler.target>\n\
             <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>\n</properties>\n{more}<build><plugins>\n{}\n{}\n{}\n{}\n\
             </plugins></build></project>\n",
            plugin("clean", "3.2.0", ""),
            plugin("install", "3.1.0", ""),
            plugin("compiler", "3.10.1", &execution("compile", "compile", "")),
            plugin("antrun", "3.1.0", &execution("package", "run", &configuration)),
        ),
    );
    let local = stage.beside("m2");
    std::fs::create_dir_all(&local).unwrap();
    let sources = |kind: &str, one: &str| {
        format!(
            "<{kind}><{one}><id>central</id><url>{repository}</url><releases><checksumPolicy>ignore</checksumPolicy></releases>\
             </{one}></{kind}>"
        )
    };
    stage.put(
        ".mvn/settings.xml",
        &format!(
            "<settings><localRepository>{}</localRepository><profiles><profile><id>here</id><activation><activeByDefault>true\
             </activeByDefault></activation>{}{}</profile></profiles></settings>",
            local.display(),
            sources("repositories", "repository"),
            sources("pluginRepositories", "pluginRepository")
        ),
    );
    stage.put(".mvn/maven.config", "-s\n.mvn/settings.xml\n-Daether.offline.protocols=file\n");
    stage.put("src/main/wso2mi/artifacts/apis/Orders.xml", "<api/>");
    stage.put(
        "src/main/java/com/acme/X.java",
        "package com.acme;\npublic class X {\n  int f() { return 1; }\n}\n",
    );
    RuntimeSettings { local_repository: Some(local), maven: MavenChoice::Installed, ..stage.settings() }
}

const ZIP: &str =
    "<zip destfile=\"${project.build.directory}/orders_1.0.0.car\" basedir=\"src/main/wso2mi\"/>";

/// Packs and then goes on and on, in a process of its own.
const BEAT: &str = "<exec executable=\"sh\"><arg value=\"-c\"/><arg value=\"echo begun; while :; do echo x >> beat; sleep 0.02; done\"/></exec>";

async fn prepared(packing: &str, more: &str) -> Option<(Stage, RuntimeSettings)> {
    let stage = Stage::new();
    let plugins = plugins()?;
    if !stage.is_confined().await {
        return None;
    }
    let settings = project(&stage, &format!("file://{}", plugins.display()), packing, more);
    Some((stage, settings))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_makes_an_archive_and_errors_have_a_place() {
    let Some((stage, settings)) = prepared(ZIP, "").await else { return };
    let runtime = stage.runtime(settings);
    stage.put("target/orders_0.9.0.car", "old");
    let text = call(&runtime, BUILD, json!({})).await.unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("The build succeeded after "), "{text}");
    assert!(lines[0].ends_with(" s: mvn -B -o clean install -Dmaven.test.skip=true"), "{text}");
    assert!(lines[1].starts_with("  target/orders_1.0.0.car (") && lines[1].ends_with(" B)"), "{text}");
    assert_eq!(lines[2], "[old archives were removed first: target/orders_0.9.0.car]");
    let log = lines[3].strip_prefix("[all output: ").unwrap().trim_end_matches(']');
    assert!(std::fs::read_to_string(log).unwrap().contains("BUILD SUCCESS"));
    assert_eq!(lines.len(), 4, "{text}");

    stage.put(
        "src/main/java/com/acme/X.java",
        "package com.acme;\npublic class X {\n  int f() { return \"a\"; }\n  Foo g;\n}\n",
    );
    let text = call(&runtime, BUILD, json!({})).await.unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("The build failed: exit code 1 after "), "{text}");
    assert_eq!(
        lines[1..4],
        [
            "2 errors:",
            "src/main/java/com/acme/X.java:4:3: cannot find symbol; symbol:   class Foo; location: class com.acme.X",
            "src/main/java/com/acme/X.java:3:20: incompatible types: java.lang.String cannot be converted to int",
        ],
        "{text}"
    );

    let pom = std::fs::read_to_string(stage.project().join("pom.xml")).unwrap();
    stage.put("pom.xml", &pom.replace("<packaging>pom</packaging>", "<packing>pom</packing>"));
    let text = call(&runtime, BUILD, json!({})).await.unwrap();
    assert_eq!(text.lines().nth(2), Some("pom.xml:6:10: Unrecognised tag: 'packing'"), "{text}");

    stage.put("pom.xml", &pom.replace(">11<", ">99<"));
    let text = call(&runtime, BUILD, json!({})).await.unwrap();
    assert_eq!(text.lines().nth(2), Some("invalid target release: 99"), "{text}");
    assert!(text.contains("→ The build needs another Java."), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_to_be_had_is_named() {
    let missing = "<dependencies><dependency><groupId>org.wso2.integration.connector</groupId>\
                   <artifactId>mi-connector-http</artifactId><version>0.1.8</version><type>zip</type></dependency></dependencies>\n";
    let Some((stage, settings)) = prepared(ZIP, missing).await else { return };
    let text = call(&stage.runtime(settings), BUILD, json!({})).await.unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[1..3],
        ["1 error:", "org.wso2.integration.connector:mi-connector-http:zip:0.1.8 was found in no repository"],
        "{text}"
    );
    assert!(text.contains("→ The build was offline, which may be why"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_that_is_stopped_leaves_nothing_running() {
    let Some((stage, settings)) = prepared(BEAT, "").await else { return };
    let runtime = stage.runtime(settings);
    let beat = stage.project().join("beat");
    let size = || std::fs::metadata(&beat).map_or(0, |facts| facts.len());

    let cancel = CancellationToken::new();
    let (cx, heard) = cx(&cancel);
    let build = tool(&runtime, BUILD);
    let building = tokio::spawn(async move { build.call(args(json!({})), &cx).await });
    while !heard.text().contains("begun") || size() == 0 {
        assert!(!building.is_finished(), "{}", heard.text());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    cancel.cancel();
    let text = stage::text(&building.await.unwrap().unwrap());
    assert!(text.starts_with("The build failed: it was stopped after "), "{text}");
    let then = size();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(size(), then, "something of the build still runs");

    let text = call(&runtime, BUILD, json!({"timeout_seconds": 6})).await.unwrap();
    assert!(
        text.starts_with(
            "The build failed: its time of 6 s was up, and everything it had started was ended."
        ),
        "{text}"
    );
    let then = size();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(size(), then, "something of the build still runs");
}

#[tokio::test(flavor = "multi_thread")]
async fn downloads_go_through_what_was_granted_and_nothing_else() {
    let Some(plugins) = plugins() else { return };
    let stage = Stage::new();
    if !stage.is_confined().await {
        return;
    }
    let port = serve(plugins);
    let settings = project(&stage, &format!("http://localhost:{port}"), ZIP, "");
    let runtime = stage.runtime(settings);
    let text = call(&runtime, BUILD, json!({})).await.unwrap();
    assert!(text.contains(" is not in Maven's local repository, and the build is offline"), "{text}");
    assert!(text.contains("→ The build was offline, and this is not in Maven's local repository."), "{text}");
    let text = call(&runtime, BUILD, json!({"network": [format!("localhost:{port}")]})).await.unwrap();
    assert!(text.starts_with("The build succeeded after "), "{text}");
    assert!(text.lines().next().unwrap().ends_with("mvn -B clean install -Dmaven.test.skip=true"), "{text}");
    let error = call(&runtime, BUILD, json!({"network": ["not a host"]})).await.unwrap_err();
    assert!(error.ends_with("Nothing was run."), "{error}");
}

/// A repository on this machine.
fn serve(folder: PathBuf) -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let folder = folder.clone();
            std::thread::spawn(move || answer(stream, &folder));
        }
    });
    port
}

fn answer(stream: std::net::TcpStream, folder: &Path) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    let _ = reader.read_line(&mut line);
    let path = line.split(' ').nth(1).unwrap_or_default().trim_start_matches('/').to_owned();
    let mut header = String::new();
    while reader.read_line(&mut header).is_ok_and(|length| length > 2) {
        header.clear();
    }
    let mut writer = stream;
    let _ = match std::fs::read(folder.join(path)) {
        Ok(bytes) => {
            write!(writer, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", bytes.len())
                .and_then(|()| writer.write_all(&bytes))
        }
        Err(_) => write!(writer, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
    };
}

#[tokio::test(flavor = "multi_thread")]
async fn the_wrapper_of_the_project_is_used_when_it_can_be() {
    use std::os::unix::fs::PermissionsExt;
    let stage = Stage::new();
    if !stage.is_confined().await {
        return;
    }
    stage.put("pom.xml", "<project/>");
    let wrapper = stage.put("mvnw", "#!/bin/sh\nmkdir -p target && echo x > target/a_1.car\necho \"[ERROR] $PWD/src/main/wso2mi/artifacts/a.xml cannot be packed\"\necho '[INFO] BUILD SUCCESS'\n");
    stage.ground.with_path("/nothing");
    let choose = |maven| RuntimeSettings { maven, ..stage.settings() };
    let runtime = stage.runtime(choose(MavenChoice::Wrapper));
    assert_eq!(
        call(&runtime, BUILD, json!({})).await.unwrap_err(),
        "The project's mvnw is not executable: chmod +x mvnw. Nothing was run."
    );
    // There is no mvn, and what there is may not be executed.
    let runtime = stage.runtime(choose(MavenChoice::Either));
    let error = call(&runtime, BUILD, json!({})).await.unwrap_err();
    assert!(error.starts_with("Maven is not installed here: there is no mvn on the path"), "{error}");
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    stage.ground.with_path("/usr/bin:/bin");
    let text = call(&runtime, BUILD, json!({"tests": true})).await.unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].ends_with(" s: ./mvnw -B -o clean install"), "{text}");
    assert_eq!(
        lines[1..4],
        [
            "  target/a_1.car (2 B)",
            "It printed 1 error all the same, so something may be missing in the archive:",
            &format!(
                "src/main/wso2mi/artifacts/a.xml: {}/src/main/wso2mi/artifacts/a.xml cannot be packed",
                stage.project().display()
            ),
        ],
        "{text}"
    );
    // The same project below the folder that is worked in.
    for name in ["pom.xml", "mvnw"] {
        std::fs::create_dir_all(stage.project().join("orders/src/main/wso2mi")).unwrap();
        std::fs::rename(stage.project().join(name), stage.project().join("orders").join(name)).unwrap();
    }
    let text = call(&runtime, BUILD, json!({})).await.unwrap();
    assert!(
        text.contains("  target/a_1.car (2 B)\n") && text.contains("[paths are relative to orders]"),
        "{text}"
    );
    std::fs::rename(stage.project().join("orders/pom.xml"), stage.project().join("pom.xml")).unwrap();
    std::fs::remove_dir_all(stage.project().join("orders")).unwrap();
    let runtime = stage.runtime(choose(MavenChoice::Wrapper));
    let error = call(&runtime, BUILD, json!({})).await.unwrap_err();
    assert!(error.contains("there is no mvnw in the project"), "{error}");
    std::fs::remove_file(stage.project().join("pom.xml")).unwrap();
    let error = call(&runtime, BUILD, json!({})).await.unwrap_err();
    assert!(error.starts_with("There is no pom.xml in the project"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn passwords_in_the_settings_of_maven_are_hidden_unless_a_person_says_otherwise() {
    use std::os::unix::fs::PermissionsExt;
    let stage = Stage::new();
    if !stage.is_confined().await {
        return;
    }
    stage.put("pom.xml", "<project/>");
    let secret = stage::put(&stage.beside(".m2/settings.xml"), "<settings><!-- hunter2 --></settings>");
    let script = format!(
        "#!/bin/sh\necho \"called with $*\"\ncat {}\nfor one in \"$@\"; do case $one in /*) cat $one;; esac; done\nexit 0\n",
        secret.display()
    );
    let wrapper = stage.put("mvnw", &script);
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    for (reads, expected) in [(false, (false, true, true)), (true, (true, false, false))] {
        let settings = RuntimeSettings {
            user_settings: Some(secret.clone()),
            reads_user_settings: reads,
            ..stage.settings()
        };
        let text = call(&stage.runtime(settings), BUILD, json!({})).await.unwrap();
        let log =
            text.lines().find_map(|line| line.strip_prefix("[all output: ")).unwrap().trim_end_matches(']');
        let printed = std::fs::read_to_string(log).unwrap();
        let found = (
            printed.contains("hunter2"),
            printed.contains("<settings/>"),
            text.contains("can hold passwords"),
        );
        assert_eq!(found, expected, "{text}\n{printed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_java_that_is_not_there_is_told_before_anything_runs() {
    let stage = Stage::new();
    stage.put("pom.xml", "<project/>");
    let settings = RuntimeSettings { java_home: Some("/nothing/jdk".into()), ..stage.settings() };
    let error = call(&stage.runtime(settings), BUILD, json!({})).await.unwrap_err();
    assert_eq!(
        error,
        "There is no Java in /nothing/jdk, which the setting mi.java_home names: there is no bin/java. The user sets it to the \
         folder of a JDK, or takes it out so that the java on the path is used. Nothing was run."
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn archives_stay_when_nothing_can_be_built() {
    let stage = Stage::new();
    if !stage.is_confined().await {
        return;
    }
    stage.put("pom.xml", "<project/>");
    let old = stage.put("target/orders_0.9.0.car", "old");
    stage.ground.with_path("/nothing");
    let error = call(&stage.runtime(stage.settings()), BUILD, json!({})).await.unwrap_err();
    assert!(error.starts_with("Maven is not installed here"), "{error}");
    assert_eq!(std::fs::read_to_string(old).unwrap(), "old");
    assert_eq!(std::fs::read_dir(stage.project().join("target")).unwrap().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_outside_the_project_is_removed() {
    let stage = Stage::new();
    if !stage.is_confined().await {
        return;
    }
    stage.install_server("");
    stage.put("pom.xml", "<project/>");
    stage.put("src/test/wso2mi/OrdersTest.xml", "<unit-test/>");
    let theirs = [
        stage::put(&stage.beside("outside/theirs_1.0.0.car"), "theirs"),
        stage::put(&stage.beside("outside/surefire-reports/TEST-a.xml"), "theirs"),
        stage::put(&stage.beside("outside/unit-test-report.json"), "theirs"),
    ];
    std::os::unix::fs::symlink("../outside", stage.project().join("target")).unwrap();
    let runtime = stage.runtime(stage.settings());
    let outside = stage.beside("outside");
    let reason = format!(
        "target is not used: it leads to {}, which is outside. Make it a folder of the project.",
        outside.display()
    );
    for (tool, value, expected) in [
        (BUILD, json!({}), format!("{reason} Nothing was built.")),
        ("run_unit_tests", json!({}), format!("{reason} No test was run.")),
        ("server_management", json!({"action": "deploy"}), reason.clone()),
        ("server_management", json!({"action": "undeploy"}), reason.clone()),
    ] {
        assert_eq!(call(&runtime, tool, value).await.unwrap_err(), expected, "{tool}");
    }
    assert!(theirs.iter().all(|path| path.exists()));
}
