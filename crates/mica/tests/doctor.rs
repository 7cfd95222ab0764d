//! `mica doctor` in a Micro Integrator project: what it is built for, and what builds and runs it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

mod stage;

use mica_testkit::Scenario;
use stage::Stage;

#[tokio::test]
async fn a_project_and_what_runs_it() {
    let mut stage = Stage::new(Scenario::new()).await;
    let folder = stage.folder.path().to_owned();
    stage.set("PATH", folder.join("bin").display().to_string());
    let plain = stage.mica(&["doctor"]).await;
    assert!(!plain.out.contains("maven"), "nothing of it in other folders: {}", plain.out);

    let project = stage.project();
    std::fs::create_dir_all(project.join("src/main/wso2mi/artifacts")).unwrap();
    let pom = "<project><properties><project.runtime.version>4.4.0</project.runtime.version></properties></project>";
    std::fs::write(project.join("pom.xml"), pom).unwrap();
    let bare = stage.mica(&["doctor"]).await.out;
    for row in [
        "ok   project    built for Micro Integrator 4.4.0\n",
        "ok   maven      not found: projects cannot be built",
        "ok   java       not found: install a JDK",
        "ok   server     no Micro Integrator is configured",
    ] {
        assert!(bare.contains(row), "{row:?} is not in:\n{bare}");
    }

    std::fs::create_dir_all(folder.join("bin")).unwrap();
    std::fs::write(folder.join("bin/mvn"), "").unwrap();
    std::fs::write(folder.join("bin/java"), "").unwrap();
    std::fs::create_dir_all(folder.join("mi/bin")).unwrap();
    std::fs::write(folder.join("mi/bin/micro-integrator.sh"), "").unwrap();
    std::fs::write(project.join("pom.xml"), "<project/>").unwrap();
    let runtime = folder.join("mi").display().to_string();
    stage.settings(&format!("[mi]\nruntime = {runtime:?}\njava_home = \"/nonexistent\"\n"));
    let ran = stage.mica(&["doctor"]).await;
    for row in [
        "BAD  project    its pom.xml does not say which runtime".to_owned(),
        format!("ok   maven      {}/bin/mvn\n", folder.display()),
        "BAD  java       there is no bin/java in /nonexistent".to_owned(),
        format!("ok   server     {runtime}\n"),
    ] {
        assert!(ran.out.contains(&row), "{row:?} is not in:\n{}", ran.out);
    }
}

#[tokio::test]
async fn what_others_added_has_rows() {
    let stage = Stage::new(Scenario::new()).await;
    let (config, project) = (stage.folder.path().join("home/config"), stage.project());
    let put = |path: std::path::PathBuf, text: &str| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    put(config.join("hooks.json"), r#"{"hooks":{"Stop":[{"hooks":[{"command":"true"}]}],"Stopp":[]}}"#);
    put(config.join("extensions/good.ts"), "export default () => {};\n");
    put(config.join("extensions/bad.ts"), "export default 3;\n");
    put(config.join("skills/tides/SKILL.md"), "---\nname: tides\ndescription: About tides.\n---\nTwice.\n");
    put(config.join("skills/mute/SKILL.md"), "---\nname: mute\n---\n");
    put(project.join(".mica/extensions/theirs.ts"), "export default () => {};\n");
    let ran = stage.mica(&["doctor"]).await;
    for row in [
        "ok   hooks      1 command (`mica hooks list` shows them)\n",
        "was Stop meant?",
        "ok   extensions good\n",
        "BAD  extensions bad does not load: ",
        "ok   skills     2 skills (`mica skills list` shows them)\n",
        "it has no description, so nobody would know when to use it",
        "BAD  trust      not trusted, and not used: .mica/extensions/theirs.ts\n",
    ] {
        assert!(ran.out.contains(row), "{row:?} is not in:\n{}", ran.out);
    }
    stage.does(&["trust"]).await;
    let ran = stage.mica(&["doctor"]).await;
    assert!(
        ran.out.contains("ok   trust      trusted as it is: .mica/extensions/theirs.ts\n"),
        "{}",
        ran.out
    );
}
