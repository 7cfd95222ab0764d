//! Each private range, by number and by name; what a list of hosts opens, and what it does not.

use super::*;

struct Fixed(&'static str);

#[async_trait]
impl Resolver for Fixed {
    async fn lookup(&self, _: &str, _: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(self.0.split(' ').map(|ip| SocketAddr::new(ip.parse().unwrap(), 9)).collect())
    }
}

async fn reached(page: &str, found: &'static str, private: &[&str]) -> Result<String, String> {
    let private = private.iter().map(|host| host.parse().unwrap()).collect();
    let reach = Reach { resolver: Arc::new(Fixed(found)), private };
    let addresses = reach.addresses(&Address::parse(page).unwrap()).await;
    addresses
        .map(|found| found.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        .map_err(|error| error.to_string())
}

/// One address of each range that is not public.
const PRIVATE: &[&str] = &[
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.127.255.255",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.255",
    "168.63.129.16",
    "169.254.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::127.0.0.1",
    "64:ff9b::a00:1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a00:1::",
    "3fff::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
];

#[tokio::test]
async fn private_addresses_are_refused_by_number_and_by_name() {
    for text in PRIVATE {
        let ip: IpAddr = text.parse().unwrap();
        let host = if ip.is_ipv6() { format!("[{text}]") } else { (*text).to_owned() };
        let number = reached(&format!("http://{host}/"), "1.1.1.1", &[]).await.unwrap_err();
        assert!(
            number.ends_with(&format!("leads to {ip}, which is not on the public internet")),
            "{text}: {number}"
        );
        let name = reached("https://site.example/", text, &[]).await;
        assert_eq!(
            name,
            Err(format!("site.example leads to {ip}, which is not on the public internet")),
            "{text}"
        );
    }
}

#[tokio::test]
async fn public_ones_are_reached_at_the_port_of_the_page() {
    assert_eq!(
        reached("https://site.example/", "1.1.1.1 2606:4700::1111", &[]).await.unwrap(),
        "1.1.1.1:443 [2606:4700::1111]:443"
    );
    assert_eq!(reached("http://8.8.8.8:8080/", "", &[]).await.unwrap(), "8.8.8.8:8080");
    let mixed = reached("https://site.example/", "1.1.1.1 10.0.0.1", &[]).await;
    assert_eq!(mixed, Err("site.example leads to 10.0.0.1, which is not on the public internet".to_owned()));
}

#[tokio::test]
async fn a_list_opens_what_it_names_and_no_more() {
    for (page, found, list, open) in [
        ("https://wiki.corp.example/", "10.0.0.1", "wiki.corp.example", true),
        ("https://WIKI.corp.example./", "10.0.0.1", "wiki.corp.example", true),
        ("https://wiki.corp.example:8443/", "10.0.0.1", "wiki.corp.example", false),
        ("https://wiki.corp.example:8443/", "10.0.0.1", "wiki.corp.example:8443", true),
        ("https://wiki.corp.example/", "10.0.0.1", "*.corp.example", true),
        ("https://corp.example/", "10.0.0.1", "*.corp.example", false),
        ("https://evil.example/", "10.0.0.1", "wiki.corp.example", false),
        ("http://127.0.0.1:8080/", "", "127.0.0.1:8080", true),
        ("http://127.0.0.1:8081/", "", "127.0.0.1:8080", false),
        ("http://evil.example:8080/", "127.0.0.1", "127.0.0.1:8080", false),
        // A name that may be private has no reason to lead to a cloud's own service, whoever answers for it.
        ("https://wiki.corp.example/", "169.254.169.254", "wiki.corp.example", false),
        ("https://wiki.corp.example/", "fd00:ec2::254", "wiki.corp.example", false),
        ("https://wiki.corp.example/", "::ffff:169.254.169.254", "wiki.corp.example", false),
        ("https://wiki.corp.example/", "0.0.0.0", "wiki.corp.example", false),
        ("http://169.254.169.254/", "", "169.254.169.254", true),
    ] {
        assert_eq!(reached(page, found, &[list]).await.is_ok(), open, "{page} at {found} with {list}");
    }
}
