//! Opening after resolving.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use super::*;
use crate::testing::Desk;

type Way = fn(OwnedFd, &Path, OFlags) -> rustix::io::Result<OwnedFd>;

/// Both ways to open.
const WAYS: [Way; 2] = [|folder, relative, flags| at_once(folder.as_fd(), relative, flags), in_steps];

fn base(desk: &Desk) -> OwnedFd {
    rustix::fs::open(desk.workspace.root(), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap()
}

#[test]
fn both_ways_open_files_and_follow_nothing() {
    let desk = Desk::with(&[("a/b/f", b"inside")]);
    symlink("b", desk.path("a/link")).unwrap();
    symlink(desk.beside("secret"), desk.path("leak")).unwrap();
    for (way, open) in WAYS.iter().enumerate() {
        let once = |path: &str| open(base(&desk), Path::new(path), OFlags::RDONLY);
        // The kernel says "again" when anything at all on the machine was renamed while it looked at a `..`.
        let opened = |path: &str| {
            let mut answers = std::iter::repeat_with(|| once(path)).take(10_000);
            answers.find(|answer| !matches!(answer, Err(Errno::AGAIN))).expect("an answer")
        };
        let mut text = String::new();
        let file = match opened("a/b/f") {
            // Where the kernel, or a container, does not have the one call, the steps are what is used.
            Err(Errno::NOSYS | Errno::PERM) if way == 0 => continue,
            file => file.unwrap(),
        };
        File::from(file).read_to_string(&mut text).unwrap();
        assert_eq!(text, "inside");
        for path in ["a/link/f", "leak", "../secret", "a/../../secret"] {
            let error = opened(path).expect_err(path);
            assert!(matches!(error, Errno::LOOP | Errno::XDEV), "way {way}, {path}: {error}");
        }
        assert_eq!(opened("a/none").unwrap_err(), Errno::NOENT);
    }
}

#[test]
fn a_link_that_comes_in_between_is_not_followed() {
    let desk = Desk::with(&[("a/secret", b"inside")]);
    let place = desk.workspace.existing("a/secret").unwrap();
    fs::rename(desk.path("a"), desk.path("b")).unwrap();
    symlink(desk.beside(""), desk.path("a")).unwrap();
    assert!(matches!(place.read(100), Err(FileError::Changed { .. })));
}

#[test]
fn a_readable_folder_that_becomes_a_link_leads_nowhere() {
    let desk = Desk::with(&[("spill/f", b"inside")]);
    let workspace = desk.workspace.clone().with_readable(desk.path("spill")).unwrap();
    let place = workspace.existing("spill/f").unwrap();
    fs::rename(desk.path("spill"), desk.path("gone")).unwrap();
    fs::create_dir(desk.beside("out")).unwrap();
    fs::rename(desk.beside("secret"), desk.beside("out/f")).unwrap();
    symlink(desk.beside("out"), desk.path("spill")).unwrap();
    assert!(matches!(place.read(100), Err(FileError::Changed { .. })));
    assert!(workspace.resolve("spill/f").is_err());
}

#[test]
fn both_ways_hold_while_a_folder_is_swapped() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let desk = Desk::with(&[("folder/deep/f", b"inside")]);
    fs::create_dir_all(desk.beside("out/deep")).unwrap();
    fs::copy(desk.beside("secret"), desk.beside("out/deep/f")).unwrap();
    symlink(desk.beside("out"), desk.path("link")).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            let (here, mut swaps) = (rustix::fs::CWD, 0);
            while !stop.load(Ordering::Relaxed) {
                let (folder, link) = (desk.path("folder"), desk.path("link"));
                rustix::fs::renameat_with(here, folder, here, link, rustix::fs::RenameFlags::EXCHANGE)
                    .unwrap();
                swaps += 1;
            }
            swaps
        });
        let mut inside = 0;
        for _ in 0..3_000 {
            for open in WAYS {
                let Ok(file) = open(base(&desk), Path::new("folder/deep/f"), OFlags::RDONLY) else {
                    continue;
                };
                let mut text = String::new();
                File::from(file).read_to_string(&mut text).unwrap();
                assert_eq!(text, "inside");
                inside += 1;
            }
        }
        stop.store(true, Ordering::Relaxed);
        let swaps = swapper.join().unwrap();
        assert!(swaps > 10 && inside > 10, "{swaps} swaps, {inside} reads: this proves nothing");
    });
}

#[test]
fn pipes_sockets_and_devices_are_refused_at_once() {
    let desk = Desk::with(&[("f", b"x")]);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        desk.path("pipe"),
        rustix::fs::FileType::Fifo,
        Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let _socket = UnixListener::bind(desk.path("socket")).unwrap();
    for (path, what) in [("pipe", "a named pipe"), ("socket", "a socket")] {
        let place = desk.workspace.existing(path).unwrap();
        let Err(FileError::NotAFile { found, .. }) = place.open() else { panic!("{path} was opened") };
        assert_eq!(found, what);
    }
    // A pipe that takes a file's place after the file was resolved is opened without waiting, and then refused.
    let place = desk.workspace.existing("f").unwrap();
    fs::rename(desk.path("pipe"), desk.path("f")).unwrap();
    let Err(FileError::NotAFile { found, .. }) = place.open() else { panic!("the pipe was opened") };
    assert_eq!(found, "a named pipe");
}

#[test]
fn sizes() {
    let desk = Desk::with(&[("f", b"12345")]);
    let place = desk.workspace.existing("f").unwrap();
    assert_eq!(place.read(5).unwrap(), b"12345");
    assert!(matches!(place.read(4), Err(FileError::TooLarge { size: 5, limit: 4, .. })));
}
