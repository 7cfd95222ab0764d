//! The tree under random operations: its invariants hold, whatever is appended and wherever the leaf goes.

use std::collections::HashSet;

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;

fn id(number: usize) -> EntryId {
    let mut bytes = [0; 16];
    bytes[8..].copy_from_slice(&(number as u64 + 1).to_be_bytes());
    EntryId::from_bytes(bytes)
}

fn node(number: usize, parent: Option<EntryId>, kind: Kind, link: Link) -> Node {
    Node {
        id: id(number),
        parent,
        time: Timestamp::UNIX_EPOCH,
        kind,
        link,
        preview: format!("{number}").into(),
    }
}

/// What a session does to a tree.
#[derive(Debug, Clone)]
enum Step {
    Say,
    Compact(usize),
    CompactAll,
    Navigate(usize),
    Restart,
    Label(usize, bool),
    Name,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => Just(Step::Say),
        1 => any::<usize>().prop_map(Step::Compact),
        1 => Just(Step::CompactAll),
        2 => any::<usize>().prop_map(Step::Navigate),
        1 => Just(Step::Restart),
        1 => (any::<usize>(), any::<bool>()).prop_map(|(at, set)| Step::Label(at, set)),
        1 => Just(Step::Name),
    ]
}

/// Does a step, checking what it promises.
fn take(tree: &mut Tree, step: &Step) -> Result<(), TestCaseError> {
    let number = tree.len();
    let leaf = tree.leaf();
    let spoken: Vec<EntryId> =
        tree.nodes().iter().filter(|node| !node.kind.is_aside()).map(|node| node.id).collect();
    let some = |at: usize| spoken.get(at % spoken.len().max(1)).copied();
    let before = tree.live(leaf);
    let (kind, link) = match step {
        Step::Say => (Kind::User, Link::None),
        Step::Compact(at) => {
            let live: Vec<EntryId> = before.kept.iter().chain(&before.later).copied().collect();
            let Some(first) = live.get(at % live.len().max(1)) else { return Ok(()) };
            (Kind::Compaction, Link::Kept(Some(*first)))
        }
        Step::CompactAll => (Kind::Compaction, Link::Kept(None)),
        Step::Navigate(at) => (Kind::Leaf, Link::Leaf(some(*at))),
        Step::Restart => (Kind::Leaf, Link::Leaf(None)),
        Step::Label(at, set) => {
            let Some(target) = some(*at) else { return Ok(()) };
            (Kind::Label, Link::Label(target, set.then(|| format!("{number}").into())))
        }
        Step::Name => (Kind::Name, Link::Name(format!("{number}").into())),
    };
    let added = node(number, leaf, kind, link.clone());
    prop_assert_eq!(tree.check(&added), Ok(()));
    prop_assert_eq!(tree.insert(added), Ok(()));
    let after = tree.live(tree.leaf());
    match link {
        // A compaction takes nothing from the window but what is before its first kept entry.
        Link::Kept(first) => {
            let all: Vec<EntryId> = before.kept.iter().chain(&before.later).copied().collect();
            let start = first.map_or(all.len(), |first| all.iter().position(|one| *one == first).unwrap());
            prop_assert_eq!(after.compaction, Some(id(number)));
            prop_assert_eq!(&after.kept, &all[start..]);
            prop_assert_eq!(&after.later, &Vec::new());
            // Going back to before it undoes it.
            prop_assert_eq!(tree.live(leaf), before);
        }
        Link::Leaf(target) => prop_assert_eq!(tree.leaf(), target),
        Link::Label(target, label) => {
            prop_assert_eq!(tree.label(target), label.as_deref());
            prop_assert_eq!(tree.leaf(), leaf);
        }
        Link::Name(name) => {
            prop_assert_eq!(tree.name(), Some(&*name));
            prop_assert_eq!(after, before);
        }
        Link::None => {
            prop_assert_eq!(tree.leaf(), Some(id(number)));
            prop_assert_eq!(after.later.last(), Some(&id(number)));
            prop_assert_eq!(after.kept, before.kept);
        }
    }
    Ok(())
}

fn check_invariants(tree: &Tree) -> Result<(), TestCaseError> {
    // Every entry is reached from a root, once.
    let mut reached = HashSet::new();
    let mut waiting: Vec<EntryId> = tree.children(None).map(|node| node.id).collect();
    while let Some(at) = waiting.pop() {
        prop_assert!(reached.insert(at));
        waiting.extend(tree.children(Some(at)).map(|node| node.id));
    }
    prop_assert_eq!(reached.len(), tree.len());
    for node in tree.nodes() {
        let path = tree.path(Some(node.id));
        prop_assert_eq!(path[0].parent, None);
        prop_assert_eq!(path[path.len() - 1].id, node.id);
        prop_assert!(path.windows(2).all(|pair| pair[1].parent == Some(pair[0].id)));
        // A fork is the path, and a tree of its own in which the path is the same.
        let mut fork = Tree::new();
        for node in path.iter().filter(|node| !node.kind.is_aside()) {
            prop_assert_eq!(fork.insert((*node).clone()), Ok(()));
        }
        let ids = |nodes: &[&Node]| nodes.iter().map(|node| node.id).collect::<Vec<_>>();
        if !node.kind.is_aside() {
            prop_assert_eq!(ids(&fork.branch()), ids(&path));
            prop_assert_eq!(fork.live(fork.leaf()), tree.live(Some(node.id)));
        }
    }
    let rows = tree.rows();
    let spoken = tree.nodes().iter().filter(|node| !node.kind.is_aside()).count();
    prop_assert_eq!(rows.len(), spoken);
    let on_branch: HashSet<EntryId> = rows.iter().filter(|row| row.on_branch).map(|row| row.id).collect();
    prop_assert_eq!(on_branch, tree.branch().iter().map(|node| node.id).collect());
    prop_assert_eq!(rows.iter().find(|row| row.is_leaf).map(|row| row.id), tree.leaf());
    Ok(())
}

proptest! {
    #[test]
    fn random_operations_keep_the_invariants(steps in proptest::collection::vec(step(), 0..60)) {
        let mut tree = Tree::new();
        for step in &steps {
            take(&mut tree, step)?;
        }
        check_invariants(&tree)?;
    }

    #[test]
    fn navigation_round_trips(steps in proptest::collection::vec(step(), 1..40), at in any::<usize>()) {
        let mut tree = Tree::new();
        for step in &steps {
            take(&mut tree, step)?;
        }
        let (leaf, live) = (tree.leaf(), tree.live(tree.leaf()));
        take(&mut tree, &Step::Navigate(at))?;
        let back = node(tree.len(), tree.leaf(), Kind::Leaf, Link::Leaf(leaf));
        tree.insert(back).unwrap();
        prop_assert_eq!(tree.leaf(), leaf);
        prop_assert_eq!(tree.live(leaf), live);
    }
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let mut tree = Tree::new();
    tree.insert(node(0, None, Kind::User, Link::None)).unwrap();
    tree.insert(node(1, Some(id(0)), Kind::Name, Link::Name("n".into()))).unwrap();
    let refused = [
        (node(0, None, Kind::User, Link::None), TreeError::Twice { id: id(0) }),
        (node(2, Some(id(9)), Kind::User, Link::None), TreeError::NoEntry { id: id(9) }),
        (node(2, Some(id(1)), Kind::User, Link::None), TreeError::Aside { id: id(1), kind: Kind::Name }),
        (node(2, None, Kind::Leaf, Link::Leaf(Some(id(9)))), TreeError::NoEntry { id: id(9) }),
        (
            node(2, None, Kind::Leaf, Link::Leaf(Some(id(1)))),
            TreeError::Aside { id: id(1), kind: Kind::Name },
        ),
        (node(2, None, Kind::Label, Link::Label(id(9), None)), TreeError::NoEntry { id: id(9) }),
    ];
    for (node, expect) in refused {
        assert_eq!(tree.insert(node), Err(expect));
        assert_eq!((tree.len(), tree.leaf(), tree.name()), (2, Some(id(0)), Some("n")));
    }
}

#[test]
fn a_compaction_keeps_from_a_live_entry_on() {
    let mut tree = Tree::new();
    for number in 0..3 {
        tree.insert(node(number, tree.leaf(), Kind::User, Link::None)).unwrap();
    }
    tree.insert(node(3, tree.leaf(), Kind::Compaction, Link::Kept(Some(id(1))))).unwrap();
    let again = |first: usize| node(4, Some(id(3)), Kind::Compaction, Link::Kept(Some(id(first))));
    assert_eq!(tree.check(&again(0)), Err(TreeError::NotLive { id: id(0) }));
    assert_eq!(tree.check(&again(3)), Err(TreeError::NotLive { id: id(3) }));
    assert_eq!(tree.check(&again(2)), Ok(()));
}

#[test]
fn a_compaction_that_names_what_is_not_there_loses_nothing() {
    let mut tree = Tree::new();
    tree.insert(node(0, None, Kind::User, Link::None)).unwrap();
    tree.insert(node(1, Some(id(0)), Kind::Compaction, Link::Kept(Some(id(9))))).unwrap();
    assert_eq!(tree.live(tree.leaf()).ids().collect::<Vec<_>>(), [id(1), id(0)]);
}

#[test]
fn rows_go_deeper_at_forks_only() {
    let mut tree = Tree::new();
    let say = |tree: &mut Tree, parent| {
        tree.insert(node(tree.len(), parent, Kind::User, Link::None)).unwrap();
    };
    say(&mut tree, None); // 0
    say(&mut tree, Some(id(0))); // 1
    say(&mut tree, Some(id(1))); // 2
    say(&mut tree, Some(id(0))); // 3
    tree.insert(node(4, Some(id(3)), Kind::Label, Link::Label(id(2), Some("good".into())))).unwrap();
    let rows: Vec<String> = tree
        .rows()
        .iter()
        .map(|row| {
            let mark = if row.is_leaf {
                "*"
            } else if row.on_branch {
                "+"
            } else {
                ""
            };
            format!("{}{}{mark}{}", "  ".repeat(row.depth), row.preview, row.label.as_deref().unwrap_or(""))
        })
        .collect();
    assert_eq!(rows, ["0+", "  1", "  2good", "  3*"]);
}
