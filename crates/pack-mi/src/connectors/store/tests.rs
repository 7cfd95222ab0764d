//! A store that answers, stalls out, lies, and comes back.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::TempDir;

use super::*;

#[derive(Default)]
struct Fake {
    answers: Mutex<Vec<Result<String, String>>>,
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl Store for Fake {
    async fn fetch(&self, address: &str) -> Result<String, String> {
        self.asked.lock().unwrap().push(address.to_owned());
        let mut answers = self.answers.lock().unwrap();
        if answers.is_empty() { Err("nobody is there".to_owned()) } else { answers.remove(0) }
    }
}

struct Scene {
    fake: Arc<Fake>,
    now: Arc<AtomicU64>,
    cache: StoreCache,
    _folder: TempDir,
}

fn scene(answers: &[Result<&str, &str>]) -> Scene {
    let own = |answer: &Result<&str, &str>| answer.map(str::to_owned).map_err(str::to_owned);
    let fake = Arc::new(Fake { answers: Mutex::new(answers.iter().map(own).collect()), ..Fake::default() });
    let folder = TempDir::new().unwrap();
    let now = Arc::new(AtomicU64::new(1_000_000));
    let clock = Arc::clone(&now);
    let clock: Clock =
        Arc::new(move || SystemTime::UNIX_EPOCH + Duration::from_secs(clock.load(Ordering::Relaxed)));
    let addresses = vec!["https://store.example/{runtime}/connectors".to_owned()];
    let cache =
        StoreCache::new(Arc::clone(&fake) as Arc<dyn Store>, addresses, folder.path().join("store"), clock);
    Scene { fake, now, cache, _folder: folder }
}

const ITEMS: &str = r#"[{"connectorName":"HTTP","mavenGroupId":"org.wso2.integration.connector","mavenArtifactId":"mi-connector-http",
"description":"Calls services","version":{"tagName":"v9.9.9","operations":[{"name":"init","isHidden":true},{"name":"get","description":"GET",
"isHidden":false},{"name":"get","description":"again"},{"name":"trace","params":[{"name":"path","required":true,"type":"string"}]}],
"connections":[{"name":"HTTP","params":[{"name":"connectionName","required":true},{"name":"baseUrl","required":true}]}]}},
{"connectorName":"Thing","mavenArtifactId":"mi-connector-thing"},{"connectorName":"no coordinates"}]"#;

#[tokio::test]
async fn what_the_store_says_is_taken_and_kept() {
    let scene = scene(&[Ok(ITEMS)]);
    let stocked = scene.cache.stock(Some(Version::new(4, 4, 0))).await;
    assert_eq!(stocked.notes, Vec::<String>::new());
    let names: Vec<(&str, Option<&str>)> =
        stocked.definitions.iter().map(|one| (&*one.name, one.version.as_deref())).collect();
    assert_eq!(names, [("http", Some("9.9.9")), ("thing", None)]);
    let http = &stocked.definitions[0];
    let operations: Vec<&str> = http.operations.iter().map(|one| &*one.name).collect();
    assert_eq!(operations, ["init", "get", "trace"]);
    assert_eq!(http.connections[0].parameters.as_ref().unwrap()[0].name, "baseUrl");
    assert_eq!(*scene.fake.asked.lock().unwrap(), ["https://store.example/4.4.0/connectors"]);

    // Within its lifetime the answer is taken again; another runtime has its own.
    assert_eq!(scene.cache.stock(Some(Version::new(4, 4, 0))).await, stocked);
    assert_eq!(scene.fake.asked.lock().unwrap().len(), 1);
    let other = scene.cache.stock(Some(Version::new(4, 3, 0))).await;
    assert_eq!(other.definitions, []);
    assert_eq!(scene.fake.asked.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn an_old_answer_has_to_do_when_the_store_is_silent() {
    let scene = scene(&[Ok(ITEMS), Err("cut"), Ok("[]")]);
    scene.cache.stock(None).await;
    scene.now.fetch_add(7 * 60 * 60, Ordering::Relaxed);
    let stale = scene.cache.stock(None).await;
    assert_eq!(stale.definitions[0].source, Source::Store { stale: true });
    assert_eq!(
        stale.notes,
        [
            "The connector store at https://store.example/4.6.0/connectors did not answer; this is what it said earlier and \
          may be out of date."
        ]
    );
    let fresh = scene.cache.stock(None).await;
    assert_eq!(fresh, Stocked::default(), "it answers again, and has nothing");
}

#[tokio::test]
async fn without_any_answer_the_snapshot_is_all() {
    for (answer, why) in [
        (Err("refused"), "refused"),
        (Ok("<html>"), "its answer is no JSON: expected value at line 1 column 1"),
        (Ok("{\"error\":1}"), "its answer is no list of connectors"),
    ] {
        let scene = scene(&[answer]);
        let stocked = scene.cache.stock(None).await;
        assert_eq!(stocked.definitions, []);
        assert_eq!(
            stocked.notes,
            [format!(
                "The connector store at https://store.example/4.6.0/connectors cannot be used ({why}); only what comes \
                 along is known."
            )]
        );
    }
}

#[tokio::test]
async fn what_one_store_says_is_not_taken_for_another() {
    let first = scene(&[Ok(ITEMS)]);
    let runtime = Some(Version::new(4, 4, 0));
    assert_eq!(first.cache.stock(runtime).await.definitions.len(), 2);
    let clock = Arc::clone(&first.cache.clock);
    let fake = Arc::new(Fake::default());
    let addresses = vec!["https://other.example/connectors".to_owned()];
    let store = Arc::clone(&fake) as Arc<dyn Store>;
    let other = StoreCache::new(store, addresses, first.cache.folder.clone(), clock);
    let stocked = other.stock(runtime).await;
    assert_eq!(stocked.definitions, [], "nothing of the first, neither fresh nor old");
    assert_eq!(*fake.asked.lock().unwrap(), ["https://other.example/connectors"]);
}
