//! A tiny client: it speaks the protocol over pipes, answers what it is asked, and waits with a deadline.

use std::io::{BufRead, BufReader, PipeWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use serde_json::{Value, json};
use synapse_ls::{Ended, Options, serve};
use tempfile::TempDir;

/// How long anything may take.
const DEADLINE: Duration = Duration::from_secs(100);

/// A client and its server.
pub(crate) struct Client {
    to_server: Option<PipeWriter>,
    from_server: Receiver<Value>,
    ended: Receiver<Ended>,
    seen: Vec<Value>,
    next: i64,
    /// The answer to `initialize`.
    pub(crate) welcome: Value,
}

/// What most clients can do.
pub(crate) fn abilities() -> Value {
    json!({
        "general": { "positionEncodings": ["utf-8", "utf-16"] },
        "window": { "workDoneProgress": true },
        "workspace": {
            "workspaceEdit": { "documentChanges": true, "resourceOperations": ["create", "rename", "delete"] },
            "didChangeWatchedFiles": { "dynamicRegistration": true },
        },
        "textDocument": {
            "publishDiagnostics": { "relatedInformation": true },
            "codeAction": { "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [] } } },
            "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
            "hover": { "contentFormat": ["markdown"] },
            "completion": {
                "completionItem": { "snippetSupport": true, "documentationFormat": ["markdown"] },
            },
        },
    })
}

impl Client {
    /// A server that nobody has said anything to.
    pub(crate) fn raw(options: Options) -> Self {
        let (server_input, to_server) = std::io::pipe().unwrap();
        let (client_input, server_output) = std::io::pipe().unwrap();
        let (end, ended) = sync_channel(1);
        std::thread::spawn(move || {
            end.send(serve(BufReader::new(server_input), server_output, options)).ok();
        });
        let (say, from_server) = sync_channel(10_000);
        std::thread::spawn(move || {
            let mut input = BufReader::new(client_input);
            while let Some(message) = read(&mut input) {
                if say.send(message).is_err() {
                    return;
                }
            }
        });
        let to_server = Some(to_server);
        Self { to_server, from_server, ended, seen: Vec::new(), next: 0, welcome: Value::Null }
    }

    /// A server at work, without a workspace.
    pub(crate) fn start() -> Self {
        Self::with(abilities(), None, Options { debounce: Duration::from_millis(1), ..Options::default() })
    }

    /// A server at work in a folder, which has been read.
    pub(crate) fn start_in(folder: &Path) -> Self {
        let options = Options { debounce: Duration::from_millis(1), ..Options::default() };
        let mut client = Self::with(abilities(), Some(folder), options);
        client.wait_loaded();
        client
    }

    pub(crate) fn with(abilities: Value, folder: Option<&Path>, options: Options) -> Self {
        let mut client = Self::raw(options);
        let folders = folder.map(|folder| json!([{ "uri": uri(folder), "name": "folder" }]));
        let params = json!({ "processId": null, "capabilities": abilities, "workspaceFolders": folders });
        client.welcome = client.request("initialize", params).unwrap();
        client.notify("initialized", json!({}));
        client
    }

    /// Waits until a project is read.
    pub(crate) fn wait_loaded(&mut self) {
        self.wait(|message| message["method"] == "$/progress" && message["params"]["value"]["kind"] == "end");
    }

    /// Sends bytes as they are.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let pipe = self.to_server.as_mut().unwrap();
        pipe.write_all(bytes).unwrap();
        pipe.flush().unwrap();
    }

    /// Sends a message.
    pub(crate) fn send(&mut self, message: &Value) {
        let body = message.to_string();
        self.send_bytes(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request without waiting; answers its id.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }));
        self.next
    }

    /// Waits for the answer to a request.
    pub(crate) fn answer(&mut self, id: i64) -> Result<Value, Value> {
        let message = self.wait(|message| message["id"] == id && message.get("method").is_none());
        match message.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(message["result"].clone()),
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// A request that says where: a place in a document, and more.
    pub(crate) fn request_at(&mut self, method: &str, uri: &str, position: &Value, more: &Value) -> Value {
        let mut params = json!({ "textDocument": { "uri": uri }, "position": position });
        for (name, value) in more.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        self.request(method, params).unwrap()
    }

    /// Waits for a message, from among those that were seen already too.
    pub(crate) fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            if let Some(at) = self.seen.iter().position(&wanted) {
                return self.seen.remove(at);
            }
            let message = match self.from_server.recv_timeout(DEADLINE) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => panic!("waited in vain; seen: {:?}", self.seen),
                Err(RecvTimeoutError::Disconnected) => panic!("the server is gone; seen: {:?}", self.seen),
            };
            if message.get("method").is_some() && message.get("id").is_some() {
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": null }));
            }
            self.seen.push(message);
        }
    }

    /// Waits for a notification or a request; answers its parameters.
    pub(crate) fn wait_for(&mut self, method: &str) -> Value {
        self.wait(|message| message["method"] == method)["params"].clone()
    }

    /// Waits for the diagnostics of a version of a document: code and text each.
    pub(crate) fn published(&mut self, uri: &str, version: i64) -> Value {
        let message = self.wait(|message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == uri
                && message["params"]["version"] == version
        });
        message["params"]["diagnostics"].clone()
    }

    pub(crate) fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "xml", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub(crate) fn change(&mut self, uri: &str, version: i64, changes: Value) {
        let document = json!({ "uri": uri, "version": version });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    /// Opens a text with a cursor in it, `|`, and asks something there.
    pub(crate) fn ask_at_cursor(&mut self, method: &str, text: &str) -> Value {
        let (clean, position) = at(text);
        let uri = format!("file:///alone/{}.xml", self.next);
        self.open(&uri, &clean);
        self.request_at(method, &uri, &position, &Value::Null)
    }

    /// Closes the pipe to the server.
    pub(crate) fn hang_up(&mut self) {
        self.to_server = None;
    }

    /// Waits for the end.
    pub(crate) fn ended(&self) -> Ended {
        self.ended.recv_timeout(DEADLINE).unwrap()
    }
}

fn read(input: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// The address of a path.
pub(crate) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// A text without its cursor, and where that stood. All texts of the tests are ASCII before their cursor.
pub(crate) fn at(text: &str) -> (String, Value) {
    let offset = text.find('|').expect("a cursor");
    let before = &text[..offset];
    let line = before.matches('\n').count();
    let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
    (format!("{before}{}", &text[offset + 1..]), json!({ "line": line, "character": column }))
}

/// A sequence around some steps.
pub(crate) fn sequence(steps: &str) -> String {
    format!("<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"S\">{steps}</sequence>")
}

/// A project on the disk.
pub(crate) struct Folder {
    folder: TempDir,
}

impl Folder {
    /// A small project with something of every kind.
    pub(crate) fn new() -> Self {
        let this = Self { folder: TempDir::new().unwrap() };
        let synapse = "xmlns=\"http://ws.apache.org/ns/synapse\"";
        this.write(
            "pom.xml",
            "<project><properties><project.runtime.version>4.4.0</project.runtime.version></properties></project>",
        );
        this.artifact(
            "sequences/Audit.xml",
            &format!("<sequence {synapse} name=\"Audit\"><log/></sequence>"),
        );
        this.artifact(
            "sequences/Main.xml",
            &format!("<sequence {synapse} name=\"Main\">\n  <sequence key=\"Audit\"/>\n</sequence>"),
        );
        this.artifact(
            "templates/Notify.xml",
            &format!(
                "<template {synapse} name=\"Notify\">\n  <parameter name=\"kind\" isMandatory=\"true\"/>\n  <parameter name=\"note\"/>\n  <sequence>\n    <log>\n      <message>${{params.functionParams.kind}}</message>\n    </log>\n  </sequence>\n</template>"
            ),
        );
        this.artifact(
            "endpoints/OrdersEP.xml",
            &format!(
                "<endpoint {synapse} name=\"OrdersEP\"><address uri=\"http://localhost:9000/\"/></endpoint>"
            ),
        );
        this.artifact(
            "local-entries/Conn.xml",
            &format!(
                "<localEntry {synapse} key=\"Conn\"><http.init><name>Conn</name></http.init></localEntry>"
            ),
        );
        this.write("src/main/wso2mi/resources/conf/config.properties", "url:string\nport:int\n");
        this.write("src/main/wso2mi/resources/json/schema.json", "{}");
        this
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// The path of an artifact.
    pub(crate) fn artifact_path(path: &str) -> String {
        format!("src/main/wso2mi/artifacts/{path}")
    }

    pub(crate) fn artifact(&self, path: &str, text: &str) {
        self.write(&Self::artifact_path(path), text);
    }

    /// The address of an artifact.
    pub(crate) fn uri(&self, path: &str) -> String {
        uri(&self.path(&Self::artifact_path(path)))
    }

    pub(crate) fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(&Self::artifact_path(path))).unwrap()
    }
}
