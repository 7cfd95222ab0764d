//! A project, and a server that was started for it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// The build file of the project.
const POM: &str = "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion><groupId>com.example</groupId>\
                   <artifactId>orders</artifactId><version>1.0.0</version><properties>\
                   <project.runtime.version>4.4.0</project.runtime.version></properties></project>";
/// An API with a mediator that does not exist, and a sequence that does not.
pub const ORDERS: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
<api context=\"/orders\" name=\"Orders\" xmlns=\"http://ws.apache.org/ns/synapse\">\n\
    <resource methods=\"GET\" uri-template=\"/\">\n\
        <inSequence>\n\
            <lag level=\"full\"/>\n\
            <sequence key=\"Missing\"/>\n\
            <respond/>\n\
        </inSequence>\n\
    </resource>\n\
</api>\n";
/// Where it is.
pub const FILE: &str = "src/main/wso2mi/artifacts/apis/Orders.xml";

/// A folder with a project, and something beside it.
pub struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    pub fn new() -> Self {
        let stage = Self { folder: tempfile::tempdir().unwrap() };
        stage.write("project/pom.xml", POM);
        stage.write(&format!("project/{FILE}"), ORDERS);
        stage.write("project/.env", "TOKEN=of-nobody\n");
        stage.write("beside/secret.xml", "<secret>of somebody else</secret>");
        stage
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).unwrap()
    }

    /// The server, in the project.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mica"));
        command.env_clear().current_dir(self.path().join("project")).args(["mcp", "serve"]).args(arguments);
        command
    }

    /// A conversation over standard input and output.
    pub fn talk(&self, arguments: &[&str]) -> Talk {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().unwrap());
        Talk { process, input, output, next: 0 }
    }

    /// A server over HTTP; the lines that it prints first.
    pub fn serve(&self, arguments: &[&str], lines: usize) -> (Served, Vec<String>) {
        let mut process = self
            .command(&["--http", "127.0.0.1:0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut read = || {
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            line.trim_end().to_owned()
        };
        let said: Vec<String> = (0..lines).map(|_| read()).collect();
        (Served { process, url: said[0].clone() }, said)
    }
}

/// A server over HTTP. It ends with the test.
pub struct Served {
    pub process: Child,
    pub url: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What every request of the newer era carries.
pub fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    })
}

/// A conversation over standard input and output.
pub struct Talk {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Talk {
    /// Sends a line as it is.
    pub fn say(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    /// Reads a line.
    pub fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Asks in the newer era, and takes the answer: its result or its error.
    pub fn ask(&mut self, method: &str, mut params: Value) -> Value {
        self.next += 1;
        params["_meta"] = meta();
        let id = self.next;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        let mut answer = self.hear();
        assert_eq!(answer["id"], id, "{answer}");
        if answer["error"].is_object() { answer["error"].take() } else { answer["result"].take() }
    }

    /// Calls a tool.
    #[allow(clippy::needless_pass_by_value, reason = "calls read better with what they take")]
    pub fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": name, "arguments": arguments }))
    }

    /// The text of a call that was refused.
    pub fn refused(&mut self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments);
        assert_eq!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Says no more; how the server ends, what it said then, and what it told on standard error.
    pub fn end(mut self) -> (Option<i32>, String, String) {
        drop(self.input.take());
        let (mut rest, mut told) = (String::new(), String::new());
        self.output.read_to_string(&mut rest).unwrap();
        self.process.stderr.take().unwrap().read_to_string(&mut told).unwrap();
        (self.process.wait().unwrap().code(), rest, told)
    }
}
