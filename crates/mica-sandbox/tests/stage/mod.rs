//! What the tests of the sandbox share: a world with an inside and an outside, and somebody to attack.

#![allow(dead_code, reason = "each test uses a part of the stage")]

use std::collections::BTreeMap;
use std::io::Write;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Program, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use mica_sandbox::{
    Around, Boundary, Command, Finished, How, Kept, Places, Sandbox, SandboxError, Stream, Stub, Tier,
};
use tokio_util::sync::CancellationToken;

const PROBE: &str = "MICA_TEST_PROBE";
const BASE: &str = "MICA_TEST_BASE";

/// The program that tries, and is the stub.
pub(crate) fn probe() -> PathBuf {
    if let Some(path) = std::env::var_os(PROBE) {
        return path.into();
    }
    let own = std::env::current_exe().unwrap();
    let path = own.ancestors().nth(2).unwrap().join("examples/probe");
    assert!(path.exists(), "{} is missing: cargo build -p mica-sandbox --example probe", path.display());
    path
}

pub(crate) fn base() -> PathBuf {
    if let Some(base) = std::env::var_os(BASE) {
        return base.into();
    }
    let usual = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    // Folders that everybody shares are replaced inside, and so would be the world around the project.
    if !["/tmp", "/var/tmp"].iter().any(|shared| usual.starts_with(shared)) {
        return usual;
    }
    let writable = |folder: &PathBuf| tempfile::tempdir_in(folder).is_ok();
    ["/srv", "/opt", "/home"].map(PathBuf::from).into_iter().find(writable).unwrap_or(usual)
}

pub(crate) struct Stage {
    pub(crate) sandbox: Sandbox,
    pub(crate) is_root: bool,
}

impl Stage {
    /// In a tier; none, with a word about it, where the tier is not reached.
    pub(crate) async fn new(tier: Tier) -> Option<Self> {
        let sandbox = Sandbox::negotiate(Stub::at(probe())).await;
        let is_root = rustix::process::getuid().is_root();
        match sandbox.at_tier(tier) {
            Ok(sandbox) => Some(Self { sandbox, is_root }),
            Err(error) => {
                eprintln!("not tried: {error}");
                None
            }
        }
    }

    pub(crate) async fn attempt(&self, world: &World, name: &str) -> Result<Finished, SandboxError> {
        self.sandbox
            .run_to_end(world.command(name), &world.boundary(), 64 * 1024, CancellationToken::new())
            .await
    }

    /// The same in a boundary that stood before.
    pub(crate) async fn attempt_when_ready(
        &self,
        world: &World,
        name: &str,
    ) -> Result<Finished, SandboxError> {
        assert!(self.sandbox.prepare(&world.project(), &world.boundary()).await, "{name}: nothing stands");
        self.attempt(world, name).await
    }

    /// The same in a boundary that has served another command, of those that write nothing but their private folders.
    pub(crate) async fn attempt_again(&self, world: &World, name: &str) -> Result<Finished, SandboxError> {
        let (sandbox, boundary) = (self.sandbox.clone().keeping_ready(), world.boundary().read_only());
        let cancel = CancellationToken::new();
        let patience = std::time::Instant::now() + Duration::from_secs(100);
        // Tests beside this one change folders around the secrets, and then one is built anew.
        let mut child = loop {
            let first = sandbox
                .run_to_end(world.command("inside-read"), &boundary, 64 * 1024, cancel.clone())
                .await?;
            assert_eq!(first.ended.how, How::Exited(0), "{name}: {}", first.errors.text());
            // Others may still be ending; none is begun when the same one serves.
            let keepers = stubs();
            let child = sandbox.spawn(world.command(name), &boundary, cancel.clone()).await?;
            let now = stubs();
            if now.iter().all(|pid| keepers.contains(pid)) {
                break child;
            }
            assert!(std::time::Instant::now() < patience, "{name}: {keepers:?} and now {now:?}");
        };
        let (mut output, mut errors) = (Kept::default(), Kept::default());
        while let Some(chunk) = child.next().await {
            let kept = if chunk.stream == Stream::Output { &mut output } else { &mut errors };
            kept.head.extend_from_slice(&chunk.bytes);
        }
        Ok(Finished { ended: child.wait().await, output, errors })
    }

    pub(crate) async fn run(&self, world: &World, name: &str, boundary: &Boundary) -> Finished {
        self.sandbox
            .run_to_end(world.command(name), boundary, 64 * 1024, CancellationToken::new())
            .await
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

/// Services of the host that nobody inside may reach.
struct Services {
    tcp: u16,
    udp: u16,
    tcp6: u16,
    abstract_name: String,
}

fn services() -> &'static Services {
    static SERVICES: OnceLock<Services> = OnceLock::new();
    SERVICES.get_or_init(|| {
        let serve = |listener: TcpListener| {
            let port = listener.local_addr().unwrap().port();
            std::thread::spawn(move || {
                listener.incoming().flatten().for_each(|mut s| drop(s.write_all(b"hello")));
            });
            port
        };
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let port = udp.local_addr().unwrap().port();
        std::thread::spawn(move || {
            while let Ok((_, from)) = udp.recv_from(&mut [0; 16]) {
                let _ = udp.send_to(b"hello", from);
            }
        });
        let abstract_name = format!("mica-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let listener = UnixListener::bind_addr(&address).unwrap();
        std::thread::spawn(move || {
            listener.incoming().flatten().for_each(|mut s| drop(s.write_all(b"hello")));
        });
        Services {
            tcp: serve(TcpListener::bind("127.0.0.1:0").unwrap()),
            udp: port,
            tcp6: TcpListener::bind("[::1]:0").map_or(0, serve),
            abstract_name,
        }
    })
}

pub(crate) fn host_port() -> u16 {
    services().tcp
}

/// A folder with a home, a project in it, things outside, and a victim.
pub(crate) struct World {
    folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
    shared: PathBuf,
    victim: Child,
    _leak: std::fs::File,
    _datagrams: Option<UnixDatagram>,
}

impl World {
    pub(crate) fn new(_: &Stage, name: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("world-").tempdir_in(base()).unwrap();
        let root = folder.path().canonicalize().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        for path in [".ssh/id_rsa", ".aws/credentials", ".netrc", ".docker/config.json", ".mozilla/cookies"] {
            put(&format!("home/{path}"), "a secret");
        }
        for path in ["home/.bash_history", "home/.profile", "home/notes", "outside/file", "outside/sub/file"]
        {
            put(path, "text");
        }
        for path in ["file", ".git/config", ".git/hooks/sample", ".git/HEAD", ".git/index"] {
            put(&format!("home/project/{path}"), "text");
        }
        put("home/.ssh/script", "#!/bin/sh\necho out\n");
        std::fs::set_permissions(root.join("home/.ssh/script"), std::fs::Permissions::from_mode(0o755))
            .unwrap();
        std::fs::create_dir(root.join("outside/empty")).unwrap();
        let shared = PathBuf::from(format!("/tmp/{}", root.file_name().unwrap().to_string_lossy()));
        std::fs::write(&shared, "of somebody else").unwrap();
        if name.starts_with("unix-path") {
            let listener = UnixListener::bind(root.join("outside/socket")).unwrap();
            std::thread::spawn(move || {
                listener.incoming().flatten().for_each(|mut s| drop(s.write_all(b"hello")));
            });
        }
        let datagrams = name
            .starts_with("unix-path")
            .then(|| UnixDatagram::bind(root.join("outside/datagrams")).unwrap());
        if let Some(setuid) = std::env::var_os("MICA_TEST_SETUID") {
            std::os::unix::fs::symlink(setuid, root.join("outside/setuid")).unwrap();
        }
        // A descriptor that a careless program leaves open for its children.
        let leak = std::fs::File::open(root.join("outside/file")).unwrap();
        rustix::io::fcntl_setfd(&leak, rustix::io::FdFlags::empty()).unwrap();
        let victim = Program::new(probe())
            .arg("victim")
            .arg(&root)
            .arg("0")
            .env("VICTIM_SEEN", "1")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        Self { folder, root, shared, victim, _leak: leak, _datagrams: datagrams }
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.join("home/project")
    }

    pub(crate) fn command(&self, name: &str) -> Command {
        let services = services();
        let network = std::fs::read_link("/proc/self/ns/net").unwrap();
        let shared = self.shared.to_string_lossy().into_owned();
        let rest = if name.contains("shared-temporary") {
            vec![shared]
        } else if name == "fork-bomb" {
            vec!["600".to_owned()]
        } else {
            let ports = [services.tcp, services.udp, services.tcp6].map(|port| port.to_string());
            let names = [services.abstract_name.clone(), network.to_string_lossy().into_owned()];
            ports.into_iter().chain(names).collect()
        };
        Command::new(probe().to_string_lossy(), self.project())
            .arguments([
                name.to_owned(),
                self.root.to_string_lossy().into_owned(),
                self.victim.id().to_string(),
            ])
            .arguments(rest)
    }

    pub(crate) fn boundary(&self) -> Boundary {
        let mut environment: BTreeMap<String, String> = [
            ("AZURE_API_KEY", "k"),
            ("SSH_AUTH_SOCK", "/tmp/agent"),
            ("GITHUB_TOKEN", "t"),
            ("LD_PRELOAD", ""),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        environment.insert("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned());
        let home = self.root.join("home");
        let around = Around { home: Some(&home), environment: &environment, temporary: Path::new("/tmp") };
        let mut boundary = Boundary::project(&self.project(), &around, &Places::builtin().unwrap()).unwrap();
        // Longer than a busy machine needs to use up a second of the processor.
        boundary.limits.wall = Some(Duration::from_secs(100));
        boundary
    }

    /// Everything that must not change: names, kinds, modes, owners, sizes, times, contents.
    pub(crate) fn outside(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for place in ["outside", "home"] {
            describe(&self.root.join(place), &self.project(), &mut lines);
        }
        for place in [".git/hooks", ".git/config", ".mica"] {
            describe(&self.project().join(place), Path::new("/none"), &mut lines);
        }
        lines.push(format!("{:?}", std::fs::read_to_string(&self.shared).ok()));
        lines.push(format!(
            "the victim runs: {}",
            std::fs::read_to_string(format!("/proc/{}/stat", self.victim.id()))
                .is_ok_and(|stat| !stat.contains(") Z "))
        ));
        lines
    }

    /// Processes of this world that still run, apart from the victim.
    pub(crate) fn left(&self) -> Vec<String> {
        let tag = self.root.file_name().unwrap().to_string_lossy().into_owned();
        std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
            .filter(|pid| *pid != self.victim.id())
            .filter_map(|pid| {
                let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
                let line = String::from_utf8_lossy(&line).replace('\0', " ");
                (line.contains(&tag) && line.contains("probe")).then(|| format!("{pid}: {line}"))
            })
            .collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        let _ = std::fs::remove_file(&self.shared);
    }
}

/// Stubs that this process has started.
pub(crate) fn stubs() -> Vec<u32> {
    let own = std::process::id();
    let is_stub = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
        let (state, parent) = (fields.next(), fields.next());
        parent == Some(&own.to_string())
            && state != Some("Z")
            && String::from_utf8_lossy(&line).contains(mica_sandbox::stub::ARGUMENT)
    };
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let mut found: Vec<u32> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_stub).collect();
    found.sort_unstable();
    found
}

/// Waits until all of them are gone: who is ended is there for a moment still.
pub(crate) async fn no_stubs() {
    let deadline = std::time::Instant::now() + Duration::from_secs(100);
    while !stubs().is_empty() {
        assert!(std::time::Instant::now() < deadline, "{:?}", stubs());
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

fn describe(path: &Path, except: &Path, lines: &mut Vec<String>) {
    let Ok(meta) = path.symlink_metadata() else { return };
    // Folders' times change when the test itself puts the project's own things in place.
    let time = if meta.is_dir() { 0 } else { meta.mtime() };
    let content =
        if meta.is_file() { std::fs::read_to_string(path).unwrap_or_default() } else { String::new() };
    lines.push(format!(
        "{} {:o} {}:{} {time} {content}",
        path.display(),
        meta.mode(),
        meta.uid(),
        meta.gid()
    ));
    if meta.is_dir() && path != except {
        let mut entries: Vec<PathBuf> =
            std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        entries.sort();
        entries.iter().for_each(|entry| describe(entry, except, lines));
    }
}

/// Runs tests of this program again, as nobody.
pub(crate) fn as_ordinary_user(tests: &[&str]) {
    if !rustix::process::getuid().is_root() {
        eprintln!("not tried again: this is an ordinary user already");
        return;
    }
    let folder = tempfile::Builder::new().prefix("ordinary-").tempdir_in(base()).unwrap();
    let give = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    give(folder.path(), 0o755);
    let worlds = folder.path().join("worlds");
    std::fs::create_dir(&worlds).unwrap();
    std::os::unix::fs::chown(&worlds, Some(65534), Some(65534)).unwrap();
    let copy = |from: &Path, name: &str| {
        let to = folder.path().join(name);
        std::fs::copy(from, &to).unwrap();
        give(&to, 0o755);
        to
    };
    let program = copy(&std::env::current_exe().unwrap(), "tests");
    let probe = copy(&probe(), "probe");
    let setuid = copy(&probe, "setuid-probe");
    give(&setuid, 0o4755);
    let run = Program::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(program)
        .args(tests)
        .args(["--exact", "--nocapture", "--test-threads=1"])
        .env(PROBE, probe)
        .env(BASE, worlds)
        .env("MICA_TEST_SETUID", setuid)
        .current_dir("/")
        .output();
    let run = match run {
        Ok(run) => run,
        Err(error) => {
            eprintln!("not tried: setpriv: {error}");
            return;
        }
    };
    let told = String::from_utf8_lossy(&run.stderr);
    eprintln!("as an ordinary user:\n{told}");
    assert!(run.status.success(), "{}{told}", String::from_utf8_lossy(&run.stdout));
    assert!(String::from_utf8_lossy(&run.stdout).contains(&format!("{} passed", tests.len())));
}
