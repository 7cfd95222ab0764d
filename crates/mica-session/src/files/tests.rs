//! Appending to a disk that fails.

use std::sync::{Arc, Mutex};

use super::*;

/// A file with so much room, on a disk that can be told to refuse more.
#[derive(Clone, Default)]
struct Disk(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    room: usize,
    refuses_sync: bool,
    refuses_cut: bool,
}

impl Log for Disk {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        assert_eq!(state.bytes.len() as u64, offset);
        let fits = bytes.len().min(state.room.saturating_sub(state.bytes.len()));
        state.bytes.extend_from_slice(&bytes[..fits]);
        if fits < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn set_len(&mut self, length: u64) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        if state.refuses_cut {
            return Err(io::ErrorKind::Other.into());
        }
        state.bytes.truncate(usize::try_from(length).unwrap());
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.0.lock().unwrap().refuses_sync { Err(io::ErrorKind::Other.into()) } else { Ok(()) }
    }
}

fn text(disk: &Disk) -> String {
    String::from_utf8(disk.0.lock().unwrap().bytes.clone()).unwrap()
}

#[test]
fn a_full_disk_leaves_whole_lines_and_takes_more_when_there_is_room() {
    let disk = Disk::default();
    disk.0.lock().unwrap().room = 10;
    let mut appender = Appender::new(disk.clone(), 0);
    assert_eq!(appender.append(b"one\n", Durability::Now).unwrap(), 0);
    let error = appender.append(b"too long\n", Durability::Lazy).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert_eq!((text(&disk).as_str(), appender.length()), ("one\n", 4));
    assert_eq!(appender.append(b"two\n", Durability::Lazy).unwrap(), 4);
    assert_eq!(text(&disk), "one\ntwo\n");
}

#[test]
fn what_could_not_be_taken_back_is_taken_back_before_the_next_append() {
    let disk = Disk::default();
    disk.0.lock().unwrap().room = 6;
    disk.0.lock().unwrap().refuses_cut = true;
    let mut appender = Appender::new(disk.clone(), 0);
    appender.append(b"one\n", Durability::Now).unwrap();
    appender.append(b"two\n", Durability::Now).unwrap_err();
    assert_eq!(text(&disk), "one\ntw");
    appender.append(b"2\n", Durability::Now).unwrap_err();
    assert_eq!(text(&disk), "one\ntw");
    disk.0.lock().unwrap().refuses_cut = false;
    assert_eq!(appender.append(b"2\n", Durability::Now).unwrap(), 4);
    assert_eq!(text(&disk), "one\n2\n");
}

#[test]
fn a_line_that_may_not_be_on_the_disk_is_not_appended() {
    let disk = Disk::default();
    disk.0.lock().unwrap().room = 100;
    disk.0.lock().unwrap().refuses_sync = true;
    let mut appender = Appender::new(disk.clone(), 0);
    appender.append(b"one\n", Durability::Now).unwrap_err();
    assert_eq!((text(&disk).as_str(), appender.length()), ("", 0));
}

#[test]
fn nothing_is_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/file");
    make_folder(path.parent().unwrap()).unwrap();
    write_new(&path, b"first").unwrap();
    assert_eq!(write_new(&path, b"second").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&path).unwrap(), b"first");
    replace(&path, b"third", Worth::Truth).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"third");
    remove(folder.path().join("a").as_path()).unwrap();
    remove(&path).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
