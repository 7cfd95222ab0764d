//! The life of a command: output, input, time, limits, its end, and what is left. In every tier that is reached here.

#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "the outside world of a test has files and processes, and a test stops at the first surprise"
)]

mod stage;

use std::time::Duration;

use mica_sandbox::{
    Boundary, Command, Denial, Host, How, Limit, Network, Notice, SandboxError, Stream, Streaming, Tier, Weak,
};
use stage::{Stage, World};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

/// Runs a shell line.
async fn shell(stage: &Stage, world: &World, boundary: &Boundary, line: &str) -> mica_sandbox::Finished {
    let command = Command::new("sh", world.project()).arguments(["-c", line]);
    stage.sandbox.run_to_end(command, boundary, 64 * 1024, CancellationToken::new()).await.unwrap()
}

async fn stages() -> Vec<Stage> {
    let mut stages = Vec::new();
    for tier in Tier::ALL {
        stages.extend(Stage::new(tier).await);
    }
    stages
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn output_codes_and_signals() {
    for stage in stages().await {
        let world = World::new(&stage, "");
        let boundary = world.boundary();
        let finished = shell(&stage, &world, &boundary, "echo out; echo err >&2; exit 7").await;
        assert_eq!((finished.output.text().as_str(), finished.errors.text().as_str()), ("out\n", "err\n"));
        assert_eq!(finished.ended.how, How::Exited(7));
        assert_eq!(finished.ended.tier, stage.sandbox.tier());
        assert!(finished.ended.usage.max_resident > 100_000, "{:?}", finished.ended.usage);
        let finished = shell(&stage, &world, &boundary, "kill -9 $$").await;
        assert_eq!(finished.ended.how, How::Signalled(9));
        let finished = stage.run(&world, "flood", &boundary).await;
        assert_eq!(finished.ended.how, How::Exited(0));
        assert_eq!(finished.output.dropped, (32 << 20) + 11 - 64 * 1024, "the middle of a flood is dropped");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_that_cannot_be_run() {
    for stage in stages().await {
        let world = World::new(&stage, "");
        let run = |program: String| {
            let command = Command::new(program, world.project());
            let (sandbox, boundary) = (stage.sandbox.clone(), world.boundary());
            async move { sandbox.run_to_end(command, &boundary, 10, CancellationToken::new()).await.unwrap_err() }
        };
        assert!(matches!(run("no-such-program".to_owned()).await, SandboxError::NotFound { .. }));
        let file = world.project().join("file").to_string_lossy().into_owned();
        assert!(matches!(run(file).await, SandboxError::NotRunnable { .. }));
        let nowhere = Command::new("true", world.root.join("nowhere"));
        let error = stage.sandbox.run_to_end(nowhere, &world.boundary(), 10, CancellationToken::new()).await;
        assert!(matches!(error, Err(SandboxError::Path { .. })));
    }
}

/// A name is looked for as a shell looks for it, and a program finds signals as it expects them: in a boundary that is built
/// for it, and in one where a process waited for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_are_found_and_begin_as_ever() {
    use std::os::unix::fs::PermissionsExt;
    for stage in stages().await {
        let world = World::new(&stage, "");
        let tools = world.project().join("tools");
        let files = [
            ("closed/tool", 0o644, "echo closed"),
            ("open/tool", 0o755, "echo no first line: $1"),
            ("open/other", 0o755, "#!/no/such/program"),
            ("closed/locked", 0o644, "echo locked"),
        ];
        for (name, mode, text) in files {
            let file = tools.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let mut writing = world.boundary();
        let folders = format!("{0}/none:{0}/closed/tool:{0}/closed::{0}/open:/bin", tools.display());
        writing.environment.insert("PATH".to_owned(), folders);
        std::fs::write(world.project().join("here"), "echo here").unwrap();
        std::fs::set_permissions(world.project().join("here"), std::fs::Permissions::from_mode(0o755))
            .unwrap();
        let mut nowhere = writing.clone();
        nowhere.environment.remove("PATH");
        let again = stage.sandbox.clone().keeping_ready();
        for (sandbox, boundary, elsewhere) in [
            (&stage.sandbox, writing.clone(), nowhere.clone()),
            (&again, writing.clone().read_only(), nowhere.clone().read_only()),
            (&again, writing.read_only(), nowhere.read_only()),
        ] {
            let run = async |program: &str, arguments: &[&str], boundary: &Boundary| {
                let command = Command::new(program, world.project()).arguments(arguments.iter().copied());
                let finished = sandbox.run_to_end(command, boundary, 4096, CancellationToken::new()).await;
                finished.map(|finished| finished.output.text())
            };
            assert_eq!(run("tool", &["a b"], &boundary).await.unwrap(), "no first line: a b\n");
            assert_eq!(run("here", &[], &boundary).await.unwrap(), "here\n");
            assert_eq!(run("sh", &["-c", "echo found"], &elsewhere).await.unwrap(), "found\n");
            let own = "/proc/self/status";
            let signals =
                run("sh", &["-c", &format!("grep -E '^Sig(Blk|Ign)' {own}")], &boundary).await.unwrap();
            let mut sets = signals.lines().filter_map(|line| line.split_whitespace().nth(1));
            let mut set = || u64::from_str_radix(sets.next().unwrap(), 16).unwrap();
            assert_eq!(set(), 0, "none is held back: {signals}");
            // What others than this program ignore is theirs to say.
            assert_eq!(
                set() & (1 << (libc::SIGPIPE - 1)),
                0,
                "writing where nobody reads ends it: {signals}"
            );
            for (name, expected) in
                [("missing", "NotFound"), ("locked", "NotRunnable"), ("other", "NotFound")]
            {
                let error = format!("{:?}", run(name, &[], &boundary).await.unwrap_err());
                assert!(error.starts_with(expected), "{name}: {error}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_speaks_a_protocol() {
    for stage in stages().await {
        let world = World::new(&stage, "");
        let command = Command::new("cat", world.project()).with_input().streaming(Streaming::Pipe);
        let mut child =
            stage.sandbox.spawn(command, &world.boundary(), CancellationToken::new()).await.unwrap();
        let (mut input, mut output) = (child.take_input().unwrap(), child.take_output().unwrap());
        for word in ["one\n", "two\n"] {
            input.write_all(word.as_bytes()).await.unwrap();
            let mut echo = [0u8; 4];
            output.read_exact(&mut echo).await.unwrap();
            assert_eq!(&echo, word.as_bytes());
        }
        drop(input);
        assert_eq!(child.wait().await.how, How::Exited(0));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn time_is_up_for_those_who_do_not_listen() {
    for stage in stages().await {
        let world = World::new(&stage, "");
        let mut boundary = world.boundary();
        boundary.limits.grace = Duration::from_millis(200);
        for name in ["sleep", "sleep-deaf"] {
            // A busy machine may need longer than the shortest of these to begin at all.
            let mut said = String::new();
            for wall in [500, 4_000, 30_000].map(Duration::from_millis) {
                boundary.limits.wall = Some(wall);
                let finished = stage.run(&world, name, &boundary).await;
                assert_eq!(finished.ended.how, How::Limit(Limit::Wall), "{name}");
                assert_eq!(world.left(), Vec::<String>::new(), "{name} in {}", stage.sandbox.tier());
                said = finished.output.text();
                if !said.is_empty() {
                    break;
                }
            }
            assert_eq!(said, "ready\n");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelled_and_dropped_commands_end() {
    for stage in stages().await {
        let world = World::new(&stage, "");
        let mut boundary = world.boundary();
        boundary.limits.grace = Duration::from_millis(100);
        let cancel = CancellationToken::new();
        let mut child =
            stage.sandbox.spawn(world.command("sleep-deaf"), &boundary, cancel.clone()).await.unwrap();
        let first = child.next().await.unwrap();
        assert_eq!((first.stream, first.bytes.as_ref()), (Stream::Output, &b"ready\n"[..]));
        cancel.cancel();
        assert_eq!(child.wait().await.how, How::Cancelled);
        assert_eq!(world.left(), Vec::<String>::new());

        let mut child = stage
            .sandbox
            .spawn(world.command("sleep-deaf"), &boundary, CancellationToken::new())
            .await
            .unwrap();
        child.next().await.unwrap();
        drop(child);
        let gone = async {
            while !world.left().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(100), gone).await.expect("a dropped command goes on");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_hold() {
    for stage in stages().await {
        let world = World::new(&stage, "");
        let mut boundary = world.boundary();
        boundary.limits.memory = Some(256 << 20);
        boundary.limits.file_size = Some(8 << 20);
        boundary.limits.open_files = Some(256);
        boundary.limits.processes = Some(310);
        boundary.limits.temporary = Some(16 << 20);
        boundary.limits.cpu_seconds = Some(1);
        let private = stage.sandbox.tier() == Tier::Namespaces;
        // The kernel counts root's processes only in a process namespace.
        let forks = if private || !stage.is_root { How::Exited(1) } else { How::Exited(0) };
        let table = [
            ("memory", How::Exited(1)),
            ("huge-file", How::Limit(Limit::FileSize)),
            ("sparse-file", How::Limit(Limit::FileSize)),
            ("open-files", How::Exited(1)),
            ("fill-temporary", if private { How::Exited(1) } else { How::Exited(0) }),
            ("raise-limits", How::Exited(1)),
            ("fork-bomb", forks),
            ("processor", How::Limit(Limit::Cpu)),
        ];
        for (name, expect) in table {
            // Root raises limits as long as it has its rights.
            if name == "raise-limits" && stage.sandbox.tier() == Tier::None {
                continue;
            }
            let finished = stage.run(&world, name, &boundary).await;
            assert_eq!(
                finished.ended.how,
                expect,
                "{name} in {}: {}",
                stage.sandbox.tier(),
                finished.output.text()
            );
            assert_eq!(world.left(), Vec::<String>::new(), "{name} in {}", stage.sandbox.tier());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn denials_are_explained() {
    for stage in stages().await.into_iter().filter(|stage| stage.sandbox.tier() != Tier::None) {
        let world = World::new(&stage, "");
        let boundary = world.boundary();
        let key = world.root.join("home/.ssh/id_rsa");
        let finished = shell(&stage, &world, &boundary, &format!("cat {}", key.display())).await;
        assert_eq!(finished.ended.denials, [Denial::Read { path: key }]);
        let out = world.root.join("outside/new");
        let finished = shell(&stage, &world, &boundary, &format!("echo x > {}", out.display())).await;
        assert_eq!(finished.ended.denials, [Denial::Write { path: out }]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_grant_reaches_its_hosts_and_no_others() {
    for stage in stages().await {
        let world = World::new(&stage, "");
        let mut boundary = world.boundary();
        let host: Host = format!("localhost:{}", stage::host_port()).parse().unwrap();
        let grant = |weak| Network::Hosts { hosts: vec![host.clone()], weak };
        boundary.network = grant(Weak::Refuse);
        let tier = stage.sandbox.tier();
        if tier != Tier::Namespaces {
            let refused =
                stage.sandbox.run_to_end(world.command("tcp"), &boundary, 10, CancellationToken::new()).await;
            assert!(matches!(refused, Err(SandboxError::Grant { .. })));
        }
        boundary.network = grant(Weak::Accept);
        let around = if tier == Tier::None { How::Exited(0) } else { How::Exited(1) };
        let table = [
            ("proxy-listed", How::Exited(0)),
            ("proxy-unlisted", How::Exited(1)),
            ("proxy-number", How::Exited(1)),
            ("proxy-other-port", How::Exited(1)),
            ("proxy-around", around),
            ("udp", around),
            ("unix-abstract", around),
            ("netlink", around),
        ];
        for (name, expect) in table {
            let finished = stage.run(&world, name, &boundary).await;
            assert_eq!(finished.ended.how, expect, "{name} in {tier}: {}", finished.output.text());
            if name == "proxy-unlisted" && tier != Tier::None {
                assert_eq!(
                    finished.ended.denials,
                    [Denial::Network { host: Some("example.org:443".to_owned()) }]
                );
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn read_only_is_read_only() {
    for stage in stages().await.into_iter().filter(|stage| stage.sandbox.tier() != Tier::None) {
        let world = World::new(&stage, "");
        let boundary = world.boundary().read_only();
        assert_eq!(stage.run(&world, "inside-write", &boundary).await.ended.how, How::Exited(1));
        assert_eq!(stage.run(&world, "inside-read", &boundary).await.ended.how, How::Exited(0));
        assert_eq!(stage.run(&world, "inside-temporary", &boundary).await.ended.how, How::Exited(0));
    }
}

#[test]
fn the_same_as_an_ordinary_user() {
    stage::as_ordinary_user(&[
        "output_codes_and_signals",
        "programs_are_found_and_begin_as_ever",
        "time_is_up_for_those_who_do_not_listen",
        "cancelled_and_dropped_commands_end",
        "limits_hold",
        "denials_are_explained",
        "a_grant_reaches_its_hosts_and_no_others",
        "read_only_is_read_only",
        "what_stands_ready_is_used_while_it_is_right",
        "the_next_command_finds_a_boundary",
        "what_is_replaced_from_outside_is_frozen_and_hidden_again",
        "links_to_frozen_places_stay",
        "what_is_new_is_disarmed_or_told_of",
    ]);
}

/// What stood before a command came is used, and only as long as it is what would be built now.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_stands_ready_is_used_while_it_is_right() {
    for stage in stages().await {
        stage::no_stubs().await;
        let world = World::new(&stage, "");
        let boundary = world.boundary();
        let project = world.project();
        let prepare = || stage.sandbox.prepare(&project, &boundary);
        assert!(prepare().await);
        let waiting = stage::stubs();
        assert_eq!(waiting.len(), 1);
        assert!(prepare().await, "one is enough");
        assert_eq!(stage::stubs(), waiting);

        // Another time limit and other words need no other boundary.
        let mut other = world.boundary();
        other.limits.wall = Some(Duration::from_secs(99));
        other.environment.insert("WORD".to_owned(), "said".to_owned());
        let command = Command::new("sh", &project).arguments(["-c", "echo $WORD; read line"]).with_input();
        let mut child = stage.sandbox.spawn(command, &other, CancellationToken::new()).await.unwrap();
        assert_eq!(child.next().await.unwrap().bytes, "said\n");
        assert_eq!(stage::stubs(), waiting, "the one that waited runs it");
        drop(child.take_input());
        child.wait().await;

        // What came meanwhile is seen, in places where everything around a secret is named.
        assert!(prepare().await);
        std::fs::write(world.root.join("home/came-later"), "news").unwrap();
        let finished = shell(&stage, &world, &boundary, "cat ../came-later").await;
        assert_eq!(finished.output.text(), "news", "{}", finished.errors.text());

        // A secret that was replaced by another file is none the less one.
        assert!(prepare().await);
        std::fs::write(world.root.join("home/new"), "another secret").unwrap();
        std::fs::rename(world.root.join("home/new"), world.root.join("home/.netrc")).unwrap();
        let finished = shell(&stage, &world, &boundary, "cat ../.netrc").await;
        let expected = if stage.sandbox.tier() == Tier::None { "another secret" } else { "" };
        assert_eq!(finished.output.text(), expected);

        // So is a hook, in a repository that came meanwhile.
        if stage.sandbox.tier() == Tier::Namespaces {
            std::fs::rename(project.join(".git"), project.join("old")).unwrap();
            assert!(prepare().await);
            std::fs::create_dir_all(project.join(".git/hooks")).unwrap();
            let finished = shell(&stage, &world, &boundary, "echo x > .git/hooks/pre-commit").await;
            assert!(!finished.ended.how.is_success(), "{}", finished.errors.text());
        }

        // One that was ended by somebody is not waited for.
        assert!(prepare().await);
        for pid in stage::stubs() {
            rustix::process::kill_process(
                rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(),
                rustix::process::Signal::KILL,
            )
            .unwrap();
        }
        stage::no_stubs().await;
        assert_eq!(shell(&stage, &world, &boundary, "echo here").await.output.text(), "here\n");
    }
}

/// One command after the other: the next finds its boundary built, and nobody waits when the sandbox is gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_command_finds_a_boundary() {
    for mut stage in stages().await {
        stage.sandbox = stage.sandbox.keeping_ready();
        stage::no_stubs().await;
        let world = World::new(&stage, "");
        let boundary = world.boundary();
        assert_eq!(shell(&stage, &world, &boundary, "echo one").await.output.text(), "one\n");
        let deadline = std::time::Instant::now() + Duration::from_secs(100);
        while stage::stubs().len() != 1 {
            assert!(std::time::Instant::now() < deadline, "{:?}", stage::stubs());
            tokio::task::yield_now().await;
        }
        assert_eq!(shell(&stage, &world, &boundary, "echo two").await.output.text(), "two\n");
        drop(stage);
        stage::no_stubs().await;
    }
}

/// A process that waits for its command may stand in its folder already, and what must not change there is covered when
/// the command comes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_was_awaited_in_a_frozen_folder_changes_nothing_there() {
    let Some(stage) = Stage::new(Tier::Namespaces).await else { return };
    let world = World::new(&stage, "");
    let (boundary, hooks) = (world.boundary(), world.project().join(".git/hooks"));
    // A process is awaited or has just begun to be: several times, so that there is one of each.
    for round in 0..8 {
        assert!(stage.sandbox.prepare(&hooks, &boundary).await);
        let line = "echo x > pre-push || echo frozen; echo y > ../../fine && cat ../../fine; pwd";
        let command = Command::new("sh", &hooks).arguments(["-c", line]);
        let mut child = stage.sandbox.spawn(command, &boundary, CancellationToken::new()).await.unwrap();
        let mut said = String::new();
        while let Some(chunk) = child.next().await {
            if chunk.stream == Stream::Output {
                said.push_str(&String::from_utf8_lossy(&chunk.bytes));
            }
        }
        child.wait().await;
        let folder = hooks.canonicalize().unwrap();
        assert_eq!(said, format!("frozen\ny\n{}\n", folder.display()), "{round}");
        assert!(!hooks.join("pre-push").exists());
    }
}

/// A mount lies on a file. When somebody outside replaces that, it is gone, and has to come back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_replaced_from_outside_is_frozen_and_hidden_again() {
    let Some(stage) = Stage::new(Tier::Namespaces).await else { return };
    let world = World::new(&stage, "");
    let (project, home) = (world.project(), world.root.join("home"));
    let replace = |path: &std::path::Path| {
        std::fs::write(home.join("new"), "another secret").unwrap();
        std::fs::rename(home.join("new"), path).unwrap();
    };
    // Each line of input is a step outside that was taken. Frozen places are open for a moment at most, so the command
    // waits until they are not; hidden ones are not open at all.
    let line = "echo ready; read x; cat ../.netrc; cat ../.ssh/id_rsa; cat ../.npmrc; \
                while echo x >> .git/config; do :; done; \
                while cat keys > /dev/null; do :; done; echo config; \
                read x; while touch .git/hooks/pre-commit; do :; done; echo hooks; \
                read x; while touch .git/hooks/pre-commit; do :; done; while echo x >> .git/config; do :; done; \
                mv .git old || echo repository; echo x > new-file && echo works";
    let command = Command::new("sh", &project).arguments(["-c", line]).with_input();
    // One that is hidden in a writable folder, and comes later.
    let mut boundary = world.boundary();
    boundary.hidden.push(project.join("keys"));
    let mut child = stage.sandbox.spawn(command, &boundary, CancellationToken::new()).await.unwrap();
    let mut input = child.take_input().unwrap();
    let mut said = String::new();
    while let Some(chunk) = child.next().await {
        if chunk.stream == Stream::Errors {
            continue;
        }
        said += &String::from_utf8_lossy(&chunk.bytes);
        match said.lines().last() {
            Some("ready") => {
                replace(&home.join(".netrc"));
                replace(&home.join(".npmrc"));
                std::fs::remove_dir_all(home.join(".ssh")).unwrap();
                std::fs::create_dir(home.join(".ssh")).unwrap();
                replace(&home.join(".ssh/id_rsa"));
                replace(&project.join(".git/config"));
                replace(&project.join("keys"));
            }
            Some("config") => {
                std::fs::remove_dir_all(project.join(".git/hooks")).unwrap();
                std::fs::create_dir(project.join(".git/hooks")).unwrap();
            }
            Some("hooks") => {
                std::fs::rename(project.join(".git"), home.join("old-git")).unwrap();
                std::fs::create_dir_all(project.join(".git/hooks")).unwrap();
                replace(&project.join(".git/config"));
            }
            _ => continue,
        }
        input.write_all(b"go\n").await.unwrap();
    }
    assert_eq!(said, "ready\nconfig\nhooks\nrepository\nworks\n");
    let ended = child.wait().await;
    assert_eq!(ended.how, How::Exited(0));
    for path in [".git/config", ".git/hooks"] {
        let notice = Notice::Replaced { path: project.join(path) };
        assert!(ended.notices.contains(&notice), "{path}: {:?}", ended.notices);
    }
}

/// A link cannot be frozen, but what it leads to can, and the link comes back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_to_frozen_places_stay() {
    let Some(stage) = Stage::new(Tier::Namespaces).await else { return };
    let project = |world: &World, link: &str, to: &str, real: &str| {
        std::fs::rename(world.project().join(link), world.project().join(real)).unwrap();
        std::os::unix::fs::symlink(to, world.project().join(link)).unwrap();
        world.project()
    };
    let world = World::new(&stage, "");
    let folder = project(&world, ".git/hooks", "../shared-hooks", "shared-hooks");
    let boundary = world.boundary();
    let line = "echo x > .git/hooks/pre-commit || echo held; echo x > shared-hooks/pre-commit || echo held; \
                mv .git old || echo held; mv shared-hooks old || echo held";
    let finished = shell(&stage, &world, &boundary, line).await;
    assert_eq!(finished.output.text(), "held\nheld\nheld\nheld\n");
    assert_eq!(finished.ended.notices, []);
    let hooks = folder.join(".git/hooks");
    for (line, aside) in [
        ("rm .git/hooks && mkdir .git/hooks", Some(folder.join(".git/hooks.replaced"))),
        ("ln -sfn /usr .git/hooks", None),
        ("rm .git/hooks", None),
    ] {
        let finished = shell(&stage, &world, &boundary, line).await;
        assert_eq!(finished.ended.how, How::Exited(0), "{line}: {}", finished.errors.text());
        assert_eq!(finished.ended.notices, [Notice::LinkPutBack { path: hooks.clone(), aside }], "{line}");
        assert_eq!(hooks.read_link().unwrap(), std::path::Path::new("../shared-hooks"), "{line}");
    }

    // The whole repository behind a link.
    let world = World::new(&stage, "");
    let folder = project(&world, ".git", "real-git", "real-git");
    let line = "echo x > .git/hooks/pre-commit || echo held; echo x > real-git/config || echo held; \
                echo x > .git/index && rm .git && mkdir .git";
    let finished = shell(&stage, &world, &world.boundary(), line).await;
    assert_eq!(finished.output.text(), "held\nheld\n", "{}", finished.errors.text());
    let aside = Some(folder.join(".git.replaced"));
    assert_eq!(finished.ended.notices, [Notice::LinkPutBack { path: folder.join(".git"), aside }]);
}

/// What was not there cannot be frozen. Hooks of a new repository are not executed, and other places are told of.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_new_is_disarmed_or_told_of() {
    use std::os::unix::fs::PermissionsExt;
    let Some(stage) = Stage::new(Tier::Namespaces).await else { return };
    let world = World::new(&stage, "");
    let folder = world.project();
    std::fs::remove_dir_all(folder.join(".git")).unwrap();
    let line = "mkdir -p .git/hooks .vscode && cd .git && echo '[core] bare = false' > config && cd hooks && \
                for name in pre-commit update.sample; do echo x > $name; chmod 755 $name; done; \
                ln -s ../../file post-commit; echo x > readme; echo x > ../../.vscode/tasks.json";
    let finished = shell(&stage, &world, &world.boundary(), line).await;
    assert_eq!(finished.ended.how, How::Exited(0), "{}", finished.errors.text());
    let hooks = folder.join(".git/hooks");
    let disarmed = ["post-commit", "pre-commit"].map(|name| Notice::Disarmed { path: hooks.join(name) });
    let made = Notice::Made { path: folder.join(".vscode") };
    assert_eq!(finished.ended.notices, [disarmed.as_slice(), &[made]].concat());
    let mode = |name: &str| hooks.join(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("pre-commit"), mode("update.sample")), (0o644, 0o755));
    assert!(hooks.join("post-commit").symlink_metadata().is_err());
    assert!(!folder.join(".mica").exists());

    // What is there from now on is frozen.
    let line = "chmod 755 .git/hooks/pre-commit || echo held; echo x > .vscode/tasks.json || echo held";
    let finished = shell(&stage, &world, &world.boundary(), line).await;
    assert_eq!((finished.output.text().as_str(), finished.ended.notices.len()), ("held\nheld\n", 0));

    // So is what comes to be in a repository that was there.
    let finished =
        shell(&stage, &world, &world.boundary(), "mkdir .git/info && echo x > .git/info/attributes").await;
    assert_eq!(finished.ended.notices, [Notice::Made { path: folder.join(".git/info/attributes") }]);

    // Settings that name programs are told of, also in a repository that is kept elsewhere.
    for git in ["sub", "."] {
        std::fs::remove_dir_all(folder.join(".git")).unwrap();
        let line =
            "mkdir -p sub && printf '[core]\\n\\thooksPath = x\\n' > sub/config && echo 'gitdir: sub' > .git";
        let line = if git == "." { "mkdir .git && mv sub/config .git" } else { line };
        let finished = shell(&stage, &world, &world.boundary(), line).await;
        let config = folder.join(if git == "." { ".git" } else { "sub" }).join("config");
        assert_eq!(finished.ended.notices, [Notice::Made { path: config }], "{}", finished.errors.text());
        if git == "sub" {
            std::fs::remove_file(folder.join(".git")).unwrap();
            std::fs::create_dir(folder.join(".git")).unwrap();
        }
    }
}
