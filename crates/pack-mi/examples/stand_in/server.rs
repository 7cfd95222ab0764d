//! The Micro Integrator, as far as anybody outside can tell.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const CERTIFICATE: &[u8] = include_bytes!("certificate.der");
const KEY: &[u8] = include_bytes!("key.der");
const LOG: &str = "repository/logs/wso2carbon.log";
const ARCHIVES: &str = "repository/deployment/server/carbonapps";

/// Writes to standard output and to the log, as the real one does.
fn log(text: &str) {
    println!("{text}");
    std::fs::create_dir_all("repository/logs").unwrap();
    let mut file = std::fs::File::options().append(true).create(true).open(LOG).unwrap();
    writeln!(file, "{text}").unwrap();
}

fn said(level: &str, logger: &str, text: &str) {
    log(&format!("[2026-05-12 10:20:30,456] {level:>5} {{{logger}}} - {text}"));
}

/// `[server] offset`, from the settings that were put into place.
fn offset() -> u16 {
    let text = std::fs::read_to_string("conf/deployment.toml").unwrap_or_default();
    let line = text.lines().find_map(|line| line.trim().strip_prefix("offset = "));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(10)
}

pub(crate) fn run() -> ExitCode {
    let behaviour = std::fs::read_to_string("behaviour").unwrap_or_default();
    let has = |word: &str| behaviour.split_whitespace().any(|one| one == word);
    said("INFO", "CarbonCoreActivator", "Starting WSO2 Micro Integrator");
    if has("crash") {
        log(
            "[2026-05-12 10:20:31,000] ERROR {StartupFinalizer} - The transport could not be started org.apache.axis2.AxisFault: no listener\n\
             \tat org.apache.axis2.Server.start(Server.java:10)\n\
             Caused by: java.net.BindException: Address already in use\n\
             \tat java.base/sun.nio.ch.Net.bind0(Native Method)",
        );
        return ExitCode::from(3);
    }
    if let Ok(secret) = std::env::var("STAND_IN_SECRET") {
        std::fs::write("repository/seen-secret", secret).unwrap();
    }
    let port = |base: u16| base - 10 + offset();
    let readiness = TcpListener::bind(("127.0.0.1", port(9201))).unwrap();
    let http = TcpListener::bind(("127.0.0.1", port(8290))).unwrap();
    let management = TcpListener::bind(("127.0.0.1", port(9164))).unwrap();
    let is_ready = Arc::new(AtomicBool::new(false));
    std::thread::spawn(move || http.incoming().flatten().for_each(drop));
    let ready = Arc::clone(&is_ready);
    std::thread::spawn(move || {
        for stream in readiness.incoming().flatten() {
            let (status, body) = match ready.load(Ordering::Acquire) {
                true => ("200 OK", "{\"status\":\"ready\"}"),
                false => ("500 Internal Server Error", "{\"status\":\"not ready\"}"),
            };
            let (mut reader, mut writer) = (BufReader::new(stream.try_clone().unwrap()), stream);
            let _ = request(&mut reader);
            let _ = respond(&mut writer, status, body);
        }
    });
    std::thread::spawn(move || manage(&management));
    if has("never-ready") {
        loop {
            std::thread::park();
        }
    }
    if has("slow") {
        // As long as somebody says: the test takes the file away.
        while Path::new("hold").exists() {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    deploy_new(&mut BTreeSet::new());
    said("INFO", "StartupFinalizer", "WSO2 Micro Integrator started in 3.21 seconds");
    is_ready.store(true, Ordering::Release);
    let mut known: BTreeSet<String> = archives();
    loop {
        std::thread::sleep(Duration::from_millis(50));
        deploy_new(&mut known);
    }
}

fn archives() -> BTreeSet<String> {
    let Ok(entries) = std::fs::read_dir(ARCHIVES) else { return BTreeSet::new() };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".car")).collect()
}

fn deploy_new(known: &mut BTreeSet<String>) {
    let now = archives();
    for gone in known.difference(&now) {
        let name = gone.trim_end_matches(".car");
        said("INFO", "CappDeployer", &format!("Successfully undeployed Carbon Application : {name}"));
    }
    for new in now.difference(known) {
        let name = new.trim_end_matches(".car");
        let content = std::fs::read_to_string(Path::new(ARCHIVES).join(new)).unwrap_or_default();
        said("INFO", "CappDeployer", &format!("Deploying Carbon Application : {new}..."));
        if content.contains("broken") {
            log(&format!(
                "[2026-05-12 10:20:31,000] ERROR {{CappDeployer}} - Error occurred while deploying the Carbon application: {new}. Reverting successfully deployed artifacts in the CApp. org.apache.axis2.deployment.DeploymentException: API Deployment from the file : /s/tmp/1{new}/Orders_1.0.0/Orders-1.0.0.xml : Failed.\n\
                 \tat org.apache.synapse.deployers.AbstractSynapseArtifactDeployer.deploy(AbstractSynapseArtifactDeployer.java:226)\n\
                 Caused by: org.apache.synapse.SynapseException: Unknown mediator referenced by configuration element : {{http://ws.apache.org/ns/synapse}}event\n\
                 \tat org.apache.synapse.config.xml.MediatorFactoryFinder.getMediator(MediatorFactoryFinder.java:246)"
            ));
        } else {
            said("INFO", "CappDeployer", &format!("Successfully Deployed Carbon Application : {name}"));
        }
    }
    *known = now;
}

/// A request: its first line, what it says of authorization, and its body.
struct Request {
    line: String,
    authorization: String,
    body: String,
}

fn request(reader: &mut impl BufRead) -> std::io::Result<Request> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let (mut authorization, mut length) = (String::new(), 0);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "authorization" => value.trim().clone_into(&mut authorization),
            "content-length" => length = value.trim().parse().unwrap_or(0),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Request {
        line: line.trim().to_owned(),
        authorization,
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}

fn respond(writer: &mut impl Write, status: &str, body: &str) -> std::io::Result<()> {
    write!(
        writer,
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )?;
    writer.flush()
}

fn manage(listener: &TcpListener) {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let certificate = rustls::pki_types::CertificateDer::from(CERTIFICATE.to_vec());
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(KEY.to_vec());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key.into())
        .unwrap();
    let config = Arc::new(config);
    for mut socket in listener.incoming().flatten() {
        let mut tls = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = BufReader::new(rustls::Stream::new(&mut tls, &mut socket));
        let Ok(request) = request(&mut stream) else { continue };
        let (status, body) = answer(&request);
        let writer = stream.get_mut();
        let _ = respond(writer, status, &body);
        writer.conn.send_close_notify();
        let _ = writer.flush();
        if body.contains("shut down") {
            std::process::exit(0);
        }
    }
}

fn answer(request: &Request) -> (&'static str, String) {
    let mut words = request.line.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = path.strip_prefix("/management/").unwrap_or(path);
    if path == "login" {
        // admin:admin
        return match request.authorization.as_str() {
            "Basic YWRtaW46YWRtaW4=" => ("200 OK", "{\"AccessToken\":\"tok-9\"}".to_owned()),
            _ => ("401 Unauthorized", String::new()),
        };
    }
    if request.authorization != "Bearer tok-9" {
        return ("401 Unauthorized", String::new());
    }
    let names: Vec<String> = archives().iter().map(|name| name.trim_end_matches(".car").to_owned()).collect();
    let active: Vec<String> = names
        .iter()
        .filter_map(|name| name.split_once('_'))
        .map(|(name, version)| format!("{{\"name\":\"{name}\",\"version\":\"{version}\"}}"))
        .collect();
    match (method, path) {
        ("GET", "applications") => (
            "200 OK",
            format!(
                "{{\"activeCount\":{},\"activeList\":[{}],\"faultyList\":[]}}",
                active.len(),
                active.join(",")
            ),
        ),
        ("GET", "apis") => (
            "200 OK",
            "{\"count\":1,\"list\":[{\"name\":\"Orders\",\"url\":\"http://localhost:8290/orders\"}]}"
                .to_owned(),
        ),
        ("GET", "apis?apiName=Orders") => {
            ("200 OK", "{\"name\":\"Orders\",\"tracing\":\"disabled\"}".to_owned())
        }
        ("POST", "apis") => ("200 OK", format!("{{\"message\":\"done\",\"got\":{}}}", request.body)),
        ("PATCH", "server") => ("200 OK", "{\"Message\":\"The server will be shut down\"}".to_owned()),
        ("GET", path) if !path.contains('?') => ("200 OK", "{\"count\":0,\"list\":[]}".to_owned()),
        _ => ("404 Not Found", "{\"Error\":\"unknown\"}".to_owned()),
    }
}
