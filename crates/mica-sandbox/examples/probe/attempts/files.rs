//! Files: writing outside, reading what is hidden, changing what is frozen.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::Path;

use super::{Attempt, World, answer, held, path};

pub(crate) const LIST: &[(&str, Attempt)] = &[
    // Inside: must work, or the sandbox is of no use.
    ("inside-write", |w| fs::write(w.project("made"), "x")),
    ("inside-chmod", |w| fs::set_permissions(w.project("file"), fs::Permissions::from_mode(0o755))),
    ("inside-temporary", |_| fs::write(std::env::temp_dir().join("mine"), "x")),
    ("inside-read", |_| fs::read("/etc/passwd").map(drop)),
    ("inside-rename", |w| {
        fs::create_dir(w.project("sub"))?;
        fs::write(w.project("sub/a"), "x")?;
        fs::rename(w.project("sub/a"), w.project("b"))
    }),
    ("inside-git-index", |w| fs::write(w.project(".git/index"), "x")),
    ("inside-null", |_| fs::write("/dev/null", "x")),
    ("inside-home-read", |w| fs::read(w.home("notes")).map(drop)),
    // Writing outside.
    ("create", |w| fs::write(w.outside("new"), "x")),
    ("overwrite", |w| fs::write(w.outside("file"), "x")),
    ("append", |w| OpenOptions::new().append(true).open(w.outside("file"))?.write_all(b"x")),
    ("truncate", |w| {
        answer(unsafe { libc::truncate(path(&w.outside("file")).as_ptr(), 0) }.into()).map(drop)
    }),
    ("open-truncate", |w| {
        OpenOptions::new().read(true).custom_flags(libc::O_TRUNC).open(w.outside("file")).map(drop)
    }),
    ("mkdir", |w| fs::create_dir(w.outside("folder"))),
    ("unlink", |w| fs::remove_file(w.outside("file"))),
    ("rmdir", |w| fs::remove_dir(w.outside("empty"))),
    ("symlink-create", |w| symlink("/", w.outside("link"))),
    ("rename-out", |w| fs::rename(w.project("file"), w.outside("moved"))),
    ("rename-in", |w| fs::rename(w.outside("file"), w.project("stolen"))),
    ("rename-within-outside", |w| fs::rename(w.outside("file"), w.outside("other"))),
    ("link-out", |w| fs::hard_link(w.project("file"), w.outside("linked"))),
    ("link-in-and-write", |w| {
        fs::hard_link(w.outside("file"), w.project("hard"))?;
        fs::write(w.project("hard"), "x")
    }),
    ("symlink-to-file", |w| {
        symlink(w.outside("file"), w.project("soft"))?;
        fs::write(w.project("soft"), "x")
    }),
    ("symlink-to-folder", |w| {
        symlink(w.outside(""), w.project("soft"))?;
        fs::write(w.project("soft/new"), "x")
    }),
    ("symlink-race", |w| race(w, |w| symlink(w.outside(""), w.project("swap")))),
    ("hard-link-race", |w| {
        for _ in 0..500 {
            let _ = fs::remove_file(w.project("swap"));
            if fs::hard_link(w.outside("file"), w.project("swap")).is_ok() {
                return fs::write(w.project("swap"), "x");
            }
        }
        Err(held("no link was made"))
    }),
    ("rename-race", |w| {
        race(w, |w| {
            let _ = fs::remove_dir_all(w.project("swap2"));
            symlink(w.outside(""), w.project("swap2"))?;
            exchange(&w.project("swap"), &w.project("swap2"))
        })
    }),
    ("exchange", |w| exchange(&w.project("file"), &w.outside("file"))),
    ("proc-root", |w| fs::write(under("/proc/self/root", &w.outside("new")), "x")),
    ("proc-cwd", |_| fs::write("/proc/self/cwd/../../outside/new", "x")),
    ("thread-root", |w| fs::write(under("/proc/thread-self/root", &w.outside("new")), "x")),
    ("dot-dot", |_| fs::write("../../outside/new", "x")),
    ("reopen-for-writing", |w| {
        let place = OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(w.outside("file"))?;
        fs::write(format!("/proc/self/fd/{}", place.as_raw_fd()), "x")
    }),
    ("folder-descriptor", |w| {
        let folder = OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(w.outside(""))?;
        answer(unsafe { libc::fchdir(folder.as_raw_fd()) }.into())?;
        fs::write("new", "x")
    }),
    ("chdir", |w| {
        std::env::set_current_dir(w.outside(""))?;
        fs::write("new", "x")
    }),
    ("fifo", |w| answer(unsafe { libc::mkfifo(path(&w.outside("fifo")).as_ptr(), 0o644) }.into()).map(drop)),
    ("socket-file", |w| std::os::unix::net::UnixListener::bind(w.outside("socket-made")).map(drop)),
    ("temporary-file", |w| {
        let flags = libc::O_TMPFILE;
        OpenOptions::new().write(true).custom_flags(flags).open(w.outside("")).map(drop)
    }),
    ("chmod", |w| fs::set_permissions(w.outside("file"), fs::Permissions::from_mode(0o777))),
    ("chown", |w| std::os::unix::fs::chown(w.outside("file"), None, Some(unsafe { libc::getegid() }))),
    ("times", |w| {
        let times = [libc::timespec { tv_sec: 1, tv_nsec: 0 }; 2];
        let place = path(&w.outside("file"));
        answer(unsafe { libc::utimensat(libc::AT_FDCWD, place.as_ptr(), times.as_ptr(), 0) }.into()).map(drop)
    }),
    ("attribute", |w| {
        let place = path(&w.outside("file"));
        let name = c"user.probe".as_ptr();
        answer(unsafe { libc::setxattr(place.as_ptr(), name, c"x".as_ptr().cast(), 1, 0) }.into()).map(drop)
    }),
    // As it is, so that nothing is broken when it works.
    ("device-mode", |_| fs::set_permissions("/dev/null", fs::metadata("/dev/null")?.permissions())),
    ("home-write", |w| fs::write(w.home("planted"), "x")),
    ("home-profile", |w| OpenOptions::new().append(true).open(w.home(".profile"))?.write_all(b"x")),
    ("shared-temporary", |w| fs::write(w.rest.first().map_or("/tmp/x", |t| t.as_str()), "x")),
    // Frozen inside.
    ("hook-create", |w| fs::write(w.project(".git/hooks/pre-commit"), "x")),
    ("hook-overwrite", |w| fs::write(w.project(".git/hooks/sample"), "x")),
    ("hook-chmod", |w| {
        fs::set_permissions(w.project(".git/hooks/sample"), fs::Permissions::from_mode(0o755))
    }),
    ("hook-rename-over", |w| {
        fs::write(w.project("evil"), "x")?;
        fs::rename(w.project("evil"), w.project(".git/hooks/sample"))
    }),
    ("hook-through-link", |w| {
        symlink(w.project(".git/hooks"), w.project("soft"))?;
        fs::write(w.project("soft/pre-commit"), "x")
    }),
    ("hook-folder-moved", |w| {
        fs::rename(w.project(".git/hooks"), w.project(".git/old"))?;
        fs::create_dir(w.project(".git/hooks"))?;
        fs::write(w.project(".git/hooks/pre-commit"), "x")
    }),
    ("repository-moved", |w| {
        fs::rename(w.project(".git"), w.project("old"))?;
        fs::create_dir_all(w.project(".git/hooks"))?;
        fs::write(w.project(".git/hooks/pre-commit"), "x")
    }),
    ("repository-exchanged", |w| {
        fs::create_dir_all(w.project("fake/hooks"))?;
        fs::write(w.project("fake/hooks/pre-commit"), "x")?;
        exchange(&w.project("fake"), &w.project(".git"))
    }),
    ("project-moved", |w| fs::rename(w.project(""), w.home("other"))),
    ("config-overwrite", |w| fs::write(w.project(".git/config"), "x")),
    ("config-replace", |w| {
        fs::write(w.project("config"), "x")?;
        fs::rename(w.project("config"), w.project(".git/config"))
    }),
    ("config-unlink", |w| fs::remove_file(w.project(".git/config"))),
    ("config-hard-link", |w| {
        fs::hard_link(w.project(".git/config"), w.project(".git/alias"))?;
        fs::write(w.project(".git/alias"), "x")
    }),
    ("settings-create", |w| {
        let _ = fs::create_dir(w.project(".mica"));
        fs::write(w.project(".mica/settings.toml"), "x")
    }),
    ("settings-as-link", |w| {
        let _ = fs::remove_dir(w.project(".mica"));
        fs::create_dir(w.project("fake"))?;
        symlink(w.project("fake"), w.project(".mica"))
    }),
    // Reading what is hidden.
    ("read-key", |w| read(&w.home(".ssh/id_rsa"))),
    ("list-keys", |w| fs::read_dir(w.home(".ssh")).map(drop)),
    ("read-cloud", |w| read(&w.home(".aws/credentials"))),
    ("read-netrc", |w| read(&w.home(".netrc"))),
    ("read-docker", |w| read(&w.home(".docker/config.json"))),
    ("read-browser", |w| read(&w.home(".mozilla/cookies"))),
    ("read-history", |w| read(&w.home(".bash_history"))),
    ("read-key-through-link", |w| {
        symlink(w.home(".ssh"), w.project("soft"))?;
        read(&w.project("soft/id_rsa"))
    }),
    ("read-key-through-root", |w| read(&under("/proc/self/root", &w.home(".ssh/id_rsa")))),
    ("read-key-hard-link", |w| {
        fs::hard_link(w.home(".ssh/id_rsa"), w.project("hard"))?;
        read(&w.project("hard"))
    }),
    ("read-key-moved", |w| {
        fs::rename(w.home(".ssh"), w.project("moved"))?;
        read(&w.project("moved/id_rsa"))
    }),
    ("read-key-reopen", |w| {
        let place = OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(w.home(".ssh/id_rsa"))?;
        read(Path::new(&format!("/proc/self/fd/{}", place.as_raw_fd())))
    }),
    ("execute-hidden", |w| std::process::Command::new(w.home(".ssh/script")).status().map(drop)),
    ("read-shadow", |_| read(Path::new("/etc/shadow"))),
    ("read-shared-temporary", |w| read(Path::new(w.rest.first().map_or("/tmp/x", |t| t.as_str())))),
];

fn read(path: &Path) -> io::Result<()> {
    let mut text = String::new();
    File::open(path)?.read_to_string(&mut text)?;
    if text.is_empty() { Err(held("empty")) } else { Ok(()) }
}

fn under(root: &str, path: &Path) -> std::path::PathBuf {
    Path::new(root).join(path.strip_prefix("/").unwrap())
}

fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    let (one, other) = (path(one), path(other));
    let flags = libc::RENAME_EXCHANGE;
    let done =
        unsafe { libc::renameat2(libc::AT_FDCWD, one.as_ptr(), libc::AT_FDCWD, other.as_ptr(), flags) };
    answer(done.into()).map(drop)
}

/// One thread swaps a folder for a link to the outside while another writes into it.
fn race(world: &World, swap: fn(&World) -> io::Result<()>) -> io::Result<()> {
    let target = world.outside("raced");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..2000 {
                let _ = fs::remove_dir_all(world.project("swap"));
                let _ = fs::remove_file(world.project("swap"));
                let _ = fs::create_dir(world.project("swap"));
                let _ = fs::remove_dir_all(world.project("swap"));
                let _ = swap(world);
            }
        });
        for _ in 0..20_000 {
            let _ = fs::write(world.project("swap/raced"), "x");
        }
    });
    if target.exists() { Ok(()) } else { Err(held("nothing arrived")) }
}
