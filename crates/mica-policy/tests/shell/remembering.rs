//! What a yes covers that is remembered.

use super::*;

#[test]
fn approvals_are_remembered_by_their_first_words() {
    let proposed = |command: &str| judged(command).remember.map(|prefix| prefix.to_string());
    for (command, prefix) in [
        ("mvn clean install", Some("mvn clean")),
        ("./mvnw test", Some("./mvnw test")),
        ("npm run build", Some("npm run build")),
        ("npm install lodash", Some("npm install")),
        ("git push origin main", Some("git push")),
        ("cd sub && mvn test", Some("mvn test")),
        ("mvn test | tail -5", Some("mvn test")),
        ("timeout 60 cargo test", Some("cargo test")),
        ("mkdir -p a/b", Some("mkdir")),
        // Never these.
        ("git push --force", None),
        ("git push origin +main", None),
        ("mvn test && npm test", None),
        ("mvn test > out.txt", None),
        ("python3 -c 'print(1)'", None),
        ("python3 x.py", None),
        ("bash build.sh", None),
        ("bash -c 'mvn test'", None),
        ("rm -rf src", None),
        ("mv a b", None),
        ("git reset --hard", None),
        ("sed -i s/a/b/ a", None),
        ("npm run $X", None),
        ("mvn $X", None),
        ("LD_PRELOAD=x mvn test", None),
        ("mvn test; $X", None),
        ("ls", None),
        ("sudo ls", None),
        ("frobnicate now", None),
        ("xargs mvn test", None),
    ] {
        assert_eq!(proposed(command).as_deref(), prefix, "{command:?}");
    }
}

#[test]
fn a_remembered_prefix_covers_no_option_that_carries_code() {
    let prefixes = [
        "make test",
        "cargo test",
        "cargo build",
        "go test",
        "gradle test",
        "./gradlew test",
        "git fetch",
        "git commit",
        "git bisect",
        "git submodule",
        "npm test",
        "npm run build",
        "npm install",
        "mvn test",
        "pytest tests",
        "pytest name",
        "pip install",
        "uv run pytest",
        "kubectl get",
        "helm template",
        "bundle exec",
        "poetry run",
        "gcc a.c",
        "cmake .",
        "eslint src",
        "bazel test",
        "go run",
    ];
    let rules = prefixes.into_iter().fold(rules(), |rules, prefix| {
        rules.with(Remembered { prefix: prefix.parse().unwrap(), scope: Scope::Session })
    });
    let class = |command: &str| judge(command, &facts(), &rules, Mode::Edit).class;
    let wrong = |commands: &[&str], expected: Class| -> Vec<String> {
        let others = commands.iter().filter(|command| class(command) != expected);
        others.map(|command| (*command).to_owned()).collect()
    };
    let none: Vec<String> = Vec::new();
    let asked = [
        "make test '--eval=$(shell rm -rf src)'",
        "make test -E 'x:=$(shell id)'",
        "make test 'X=$(shell id)'",
        "make test CC='sh -c id'",
        "make test SHELL=x",
        "make test MAKEFLAGS=--eval=x",
        "cargo test --config 'target.x.runner=[\"sh\",\"-c\",\"id\"]'",
        "cargo test --config 'build.rustc-wrapper=\"sh\"'",
        "cargo --config 'build.rustc-wrapper=\"sh\"' test",
        "cargo test --conf x=1",
        "cargo test --frobnicate",
        "go test -exec 'sh -c id' ./...",
        "go test --exec='sh -c id' ./...",
        "go test -toolexec 'sh -c id' ./...",
        "go run x.go",
        "gradle test --init-script x.gradle",
        "gradle test -I x",
        "gradle test -Ix",
        "./gradlew -I x test",
        "gradle test publish",
        "git fetch origin --upload-pack=./evil",
        "git fetch --upload=./evil origin",
        "git bisect run ./x",
        "git submodule foreach ls",
        "npm test --script-shell=./x",
        "npm --script-shell=./x test",
        "npm run build --script-shell ./x",
        "npm test --node-options='--require ./x'",
        "npm install --registry=x lodash",
        "mvn test -Dmaven.ext.class.path=evil.jar",
        "mvn -Dmaven.ext.class.path=evil.jar test",
        "mvn test -DargLine=-javaagent:x.jar",
        "mvn test exec:exec -Dexec.executable=sh",
        "mvn test deploy",
        "pytest -p evil tests",
        "pytest tests -c x.ini",
        "pytest tests --rootdir=x",
        "pip install --index-url x y",
        "pip install -i x y",
        "uv run --with evil pytest",
        "kubectl get pods --kubeconfig=x",
        "kubectl --kubeconfig=x get pods",
        "helm template x --post-renderer ./x",
        "bundle exec sh",
        "poetry run sh",
        "gcc a.c -wrapper sh,-c,id",
        "gcc a.c -fplugin=x.so",
        "cmake . -DCMAKE_C_COMPILER=x",
        "cmake . -P x.cmake",
        "eslint src --config x.js",
        "bazel test --run_under='sh -c id' x",
    ];
    assert_eq!(wrong(&asked, Class::Ask), none, "what must be asked about");
    let covered = [
        "make test",
        "make -j8 -k test",
        "make test V=1 TESTS=unit",
        "cargo test --release -p x",
        "cargo test -p x --lib name -- --nocapture",
        "cargo test --workspace --all-features --no-fail-fast -q",
        "cargo build --release --locked -j4",
        "go test ./... -run TestX -v -count=1",
        "go test -race -short ./...",
        "gradle test --tests A.b --info -x lint",
        "gradle -q test --no-daemon -Pa=b",
        "git fetch origin --prune --tags",
        "git commit -m 'x = y; z' -- a",
        "git commit -am 'fix: a b=c d'",
        "npm test -- --watch",
        "npm test --silent",
        "npm run build -w core",
        "npm install lodash --save-dev",
        "mvn -q test -DskipITs",
        "mvn test -Dtest=A#b -pl core -am -B -ntp",
        "pytest tests -x -k 'a and not b' -vv",
        "pytest -x -k name tests",
        "pytest tests --maxfail=1 --tb=short -q",
        "pip install -r requirements.txt",
        "kubectl get pods -n x -o yaml",
        "gcc a.c -O2 -Wall -lm -Iinclude -DNDEBUG -I src",
        "cmake . -B out -DCMAKE_BUILD_TYPE=Release",
        "gradle test -DskipTests",
        "gradle test",
        "./gradlew test",
        "git fetch",
        "uv run pytest -x",
        "helm template x",
        "eslint src",
        "bazel test x",
    ];
    assert_eq!(wrong(&covered, Class::Safe), none, "what stays covered");
}

#[test]
fn a_remembered_prefix_covers_its_commands_and_nothing_else() {
    let remembered = |prefix: &str| Remembered { prefix: prefix.parse().unwrap(), scope: Scope::Session };
    let mut rules =
        rules().with(remembered("git push")).with(remembered("mvn test")).with(remembered("npm run build"));
    for extra in ["rm", "sudo", "python3", "bash", "git", "curl", "git reset", "xargs", "env"] {
        rules.remember(remembered(extra));
    }
    let class = |rules: &ShellRules, command: &str| judge(command, &facts(), rules, Mode::Edit).class;
    for command in [
        "git push origin main",
        "mvn test",
        "mvn -q test",
        "cd sub && mvn test | tail -5",
        "npm run build",
        "mvn test -f sub/pom.xml",
        "mvn test -Dfile=/home/user/project/x",
        "mvn test -Dtest=A#b,C",
        "cd sub && npm run build --prefix ../other",
    ] {
        assert_eq!(class(&rules, command), Class::Safe, "{command}");
    }
    for command in [
        "git push --force",
        "git push origin +main",
        "git push origin :main",
        "git push; rm x",
        "mvn tester",
        "mvn test > out.txt",
        "npm run build2",
        "npm run",
        "rm a",
        "python3 x.py",
        "git reset --hard",
        "mvn test $X",
        "PATH=. mvn test",
        "mvn test; $X",
        "mvn test 'x",
        "bash -c ls",
        // The same words in another place run other code.
        "cd /tmp/x && mvn test",
        "cd .. && mvn test",
        "cd link && mvn test",
        "mvn -f link/pom.xml test",
        "mvn -f.. test",
        "mvn -flink test",
        "mvn -f link test",
        "npm -C link run build",
        "npm -Clink run build",
        "npm run build --prefix=link",
        "cd $X && mvn test",
        "(cd /var/tmp && mvn test)",
        "pushd /tmp/x; npm run build",
        "env -C /tmp/x mvn test",
        "mvn -f /tmp/x/pom.xml test",
        "mvn test -f ../other/pom.xml",
        "mvn test -Dmaven.ext.class.path=/tmp/x.jar",
        "npm --prefix /tmp/x run build",
        "npm run build --prefix=/tmp/x",
        "npm run build -C/tmp/x",
        "npm run build --userconfig ~/x",
        // Another machine.
        "git push https://example.org/x main",
        "git push user@example.org:x main",
    ] {
        assert_eq!(class(&rules, command), Class::Ask, "{command}");
    }
    for command in [
        "sudo mvn test",
        "git push; sudo ls",
        "rm -rf /",
        "git -C /etc push",
        "mvn test > /etc/x",
        "cat .env",
    ] {
        assert_eq!(class(&rules, command), Class::Blocked, "{command}");
    }
    assert_eq!(judge("mvn test", &facts(), &rules, Mode::Plan).class, Class::Blocked);
    let prefix: Prefix = "mvn test".parse().unwrap();
    let written = serde_json::to_string(rules.remembered()).unwrap();
    assert!(written.starts_with(r#"[{"prefix":["git","push"],"scope":"session"}"#), "{written}");
    assert_eq!(serde_json::from_str::<Vec<Remembered>>(&written).unwrap(), rules.remembered());
    assert!(rules.forget(&prefix));
    assert!(!rules.forget(&prefix));
    assert_eq!(class(&rules, "mvn test"), Class::Ask);
}
