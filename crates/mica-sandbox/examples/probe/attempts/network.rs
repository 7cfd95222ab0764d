//! The network, and sockets with names.

use std::io::{self, Read, Write};
use std::net::{Ipv6Addr, TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};

use super::{Attempt, World, answer, held, senseless};

/// Arguments: the port of a TCP service of the host, of a UDP one, of an IPv6 one, and the name of an abstract socket.
pub(crate) const LIST: &[(&str, Attempt)] = &[
    ("inside-pair", |_| UnixStream::pair().map(drop)),
    ("inside-loopback", |_| {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        TcpStream::connect(listener.local_addr()?).map(drop)
    }),
    ("tcp", |w| hello(TcpStream::connect(("127.0.0.1", w.number(0)))?)),
    ("tcp-any", |w| hello(TcpStream::connect(("0.0.0.0", w.number(0)))?)),
    ("tcp6", |w| {
        if w.number(2) == 0 {
            return Err(senseless("no IPv6 here"));
        }
        hello(TcpStream::connect((Ipv6Addr::LOCALHOST, w.number(2)))?)
    }),
    ("tcp-mapped", |w| hello(TcpStream::connect(("::ffff:127.0.0.1", w.number(0)))?)),
    ("udp", |w| {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.connect(("127.0.0.1", w.number(1)))?;
        socket.set_read_timeout(Some(std::time::Duration::from_secs(1)))?;
        socket.send(b"out")?;
        hello(Datagrams(socket))
    }),
    ("tcp-listen", |w| {
        // A service that the host can see.
        let listener = TcpListener::bind(("0.0.0.0", 0))?;
        let _ = (listener, w);
        let same = std::fs::read_link("/proc/self/ns/net")?.to_string_lossy().into_owned() == w.rest[4];
        if same { Ok(()) } else { Err(held("only in here")) }
    }),
    ("raw", |_| socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP)),
    ("raw6", |_| socket(libc::AF_INET6, libc::SOCK_RAW, libc::IPPROTO_ICMPV6)),
    ("packet", |_| socket(libc::AF_PACKET, libc::SOCK_RAW, 0)),
    ("netlink", |_| socket(libc::AF_NETLINK, libc::SOCK_RAW, 0)),
    ("vsock", |_| socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0)),
    ("crypto-socket", |_| socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0)),
    ("unix-path", |w| hello(UnixStream::connect(w.outside("socket"))?)),
    ("unix-path-datagram", |w| UnixDatagram::unbound()?.send_to(b"out", w.outside("datagrams")).map(drop)),
    ("unix-abstract", |w| hello(UnixStream::connect_addr(&SocketAddr::from_abstract_name(&w.rest[3])?)?)),
    ("shell-tcp", |w| {
        let line = format!("exec 3<>/dev/tcp/127.0.0.1/{} && head -c 5 <&3", w.number(0));
        let Ok(output) = std::process::Command::new("bash").args(["-c", &line]).output() else {
            return Err(senseless("no bash here"));
        };
        if output.stdout == b"hello" { Ok(()) } else { Err(held("nothing came")) }
    }),
    // Through the proxy: `http_proxy` is set, arguments are those above.
    ("proxy-listed", |w| through_proxy(w, &format!("localhost:{}", w.number(0)))),
    ("proxy-unlisted", |_| through_proxy_to("example.org:443")),
    ("proxy-number", |w| through_proxy_to(&format!("127.0.0.1:{}", w.number(0)))),
    ("proxy-other-port", |w| through_proxy_to(&format!("localhost:{}", w.number(1)))),
    ("proxy-around", |w| hello(TcpStream::connect(("127.0.0.1", w.number(0)))?)),
];

fn hello(mut stream: impl Read) -> io::Result<()> {
    let mut text = [0u8; 5];
    stream.read_exact(&mut text)?;
    if &text == b"hello" { Ok(()) } else { Err(held("somebody else")) }
}

/// A datagram socket as a stream.
struct Datagrams(UdpSocket);

impl Read for Datagrams {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.recv(buffer)
    }
}

fn socket(family: i32, kind: i32, protocol: i32) -> io::Result<()> {
    answer(unsafe { libc::socket(family, kind, protocol) }.into()).map(drop)
}

fn through_proxy(_: &World, to: &str) -> io::Result<()> {
    through_proxy_to(to)
}

fn through_proxy_to(to: &str) -> io::Result<()> {
    let proxy = std::env::var("HTTPS_PROXY").map_err(|_| senseless("no proxy"))?;
    let mut stream = TcpStream::connect(proxy.trim_start_matches("http://"))?;
    write!(stream, "CONNECT {to} HTTP/1.1\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    if text.ends_with("hello") { Ok(()) } else { Err(held(text.lines().next().unwrap_or("nothing"))) }
}
