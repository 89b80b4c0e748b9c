//! The proxy from its client's side, with names and people made up.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use runward_proxy::{Decided, Gate, Hosts, Later, Lists, Resolve, Target};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Names with addresses, one list for each time that they are asked for; the last one stays.
#[derive(Debug, Default)]
struct Names(Mutex<HashMap<String, Vec<Vec<IpAddr>>>>);

impl Resolve for Names {
    fn resolve(&self, name: &str, port: u16) -> Later<io::Result<Vec<SocketAddr>>> {
        let mut names = self.0.lock().unwrap();
        let found = names.get_mut(name).map(|all| if all.len() > 1 { all.remove(0) } else { all[0].clone() });
        let found = found.ok_or_else(|| io::Error::other("no such name"));
        Box::pin(
            async move { Ok(found?.into_iter().map(|address| SocketAddr::new(address, port)).collect()) },
        )
    }
}

/// Somebody who writes everything down, and answers every question alike.
#[derive(Debug)]
struct Clerk {
    decided: Mutex<Vec<Decided>>,
    asked: Mutex<Vec<String>>,
    crowded: AtomicUsize,
    answer: Result<String, String>,
    writes: Result<(), String>,
}

impl Gate for Clerk {
    fn decided(&self, decided: Decided) -> Later<Result<(), String>> {
        self.decided.lock().unwrap().push(decided);
        let writes = self.writes.clone();
        Box::pin(async move { writes })
    }

    fn ask(&self, target: &Target) -> Later<Result<String, String>> {
        self.asked.lock().unwrap().push(target.to_string());
        let answer = self.answer.clone();
        Box::pin(async move { answer })
    }

    fn crowded(&self, _: usize) {
        self.crowded.fetch_add(1, Ordering::Relaxed);
    }
}

struct Scene {
    proxy: SocketAddr,
    clerk: Arc<Clerk>,
    /// A host that answers everybody with `hello`.
    host: SocketAddr,
}

/// A proxy with these lists; `PORT` in them is the port of the host.
async fn scene(lists: &[&str], names: &[(&str, &[&[&str]])], clerk: Clerk) -> Scene {
    let host = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = host.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = host.accept().await {
            tokio::spawn(async move {
                let mut request = [0; 1024];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nhello").await;
            });
        }
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = listener.local_addr().unwrap();
    let lists: Vec<String> =
        lists.iter().map(|entry| entry.replace("PORT", &address.port().to_string())).collect();
    let hosts = Hosts::new("network", &Lists::marked(lists.iter().map(String::as_str))).unwrap();
    let ips = |each: &&[&str]| each.iter().map(|ip| ip.parse().unwrap()).collect();
    let names = names.iter().map(|(name, all)| ((*name).to_owned(), all.iter().map(ips).collect())).collect();
    let clerk = Arc::new(clerk);
    let gate: Arc<dyn Gate> = clerk.clone();
    tokio::spawn(runward_proxy::serve(listener, Arc::new(hosts), gate, Arc::new(Names(Mutex::new(names)))));
    Scene { proxy, clerk, host: address }
}

fn clerk() -> Clerk {
    Clerk {
        decided: Mutex::default(),
        asked: Mutex::default(),
        crowded: AtomicUsize::new(0),
        answer: Ok("approved by ada".into()),
        writes: Ok(()),
    }
}

impl Scene {
    async fn say(&self, what: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.proxy).await.unwrap();
        stream.write_all(what).await.unwrap();
        let mut told = Vec::new();
        stream.read_to_end(&mut told).await.unwrap();
        told
    }

    /// The answer to a request for a host by name.
    async fn fetch(&self, host: &str) -> String {
        let port = self.host.port();
        let told = self.say(format!("GET http://{host}:{port}/ HTTP/1.1\r\n\r\n").as_bytes()).await;
        String::from_utf8(told).unwrap()
    }

    fn decisions(&self) -> Vec<(String, Vec<IpAddr>, bool)> {
        let decided = self.clerk.decided.lock().unwrap();
        let plain = |one: &Decided| (one.target.to_string(), one.addresses.clone(), one.ruling.is_ok());
        decided.iter().map(plain).collect()
    }
}

#[tokio::test]
async fn the_address_that_was_checked_is_the_one_that_is_dialled() {
    let rebinding: &[&[&str]] = &[&["127.0.0.1"], &["127.0.0.2"]];
    let names = [("own.test", rebinding)];
    let scene = scene(&["own.test", "127.0.0.1:PORT"], &names, clerk()).await;
    assert!(scene.fetch("own.test").await.ends_with("hello"));
    let target = format!("own.test:{}", scene.host.port());
    assert_eq!(scene.decisions(), [(target, vec!["127.0.0.1".parse().unwrap()], true)]);
    // It leads elsewhere by now, and that address was not named.
    let told = scene.fetch("own.test").await;
    assert!(told.contains("127.0.0.2 is no public address"), "{told}");
}

#[tokio::test]
async fn only_those_addresses_of_a_name_are_dialled_that_may_be() {
    let mixed: &[&[&str]] = &[&["10.0.0.1", "169.254.169.254", "127.0.0.1", "::ffff:192.168.0.1"]];
    let scene = scene(&["mixed.test", "127.0.0.1:PORT"], &[("mixed.test", mixed)], clerk()).await;
    assert!(scene.fetch("mixed.test").await.ends_with("hello"));
    assert_eq!(scene.decisions()[0].1, ["127.0.0.1".parse::<IpAddr>().unwrap()]);
}

#[tokio::test]
async fn a_denied_address_is_not_dialled_by_any_name() {
    let there: &[&[&str]] = &[&["127.0.0.1"]];
    let scene = scene(&["*", "127.0.0.0/8", "!127.0.0.1"], &[("own.test", there)], clerk()).await;
    let told = scene.fetch("own.test").await;
    assert!(told.starts_with("HTTP/1.1 403") && told.contains("network denies 127.0.0.1"), "{told}");
    assert!(told.contains("X-Proxy-Error: blocked-by-allowlist"), "{told}");
}

#[tokio::test]
async fn what_cannot_be_written_down_is_not_reached() {
    let full = Clerk { writes: Err("the disk is full".into()), ..clerk() };
    let scene = scene(&["127.0.0.1"], &[], full).await;
    let told = scene.fetch("127.0.0.1").await;
    assert!(told.starts_with("HTTP/1.1 403") && told.contains("the disk is full"), "{told}");
}

#[tokio::test]
async fn a_person_is_asked_about_what_neither_list_decides() {
    let lists = ["?127.0.0.1", "?secret.test", "!secret.test"];
    let scene = scene(&lists, &[], clerk()).await;
    assert!(scene.fetch("127.0.0.1").await.ends_with("hello"));
    assert!(scene.fetch("secret.test").await.starts_with("HTTP/1.1 403"));
    assert_eq!(*scene.clerk.asked.lock().unwrap(), [format!("127.0.0.1:{}", scene.host.port())]);
    assert_eq!(scene.clerk.decided.lock().unwrap()[0].ruling, Ok("approved by ada".into()));
}

#[tokio::test]
async fn what_leads_to_an_address_that_has_to_be_asked_about_is_asked_about() {
    let there: &[&[&str]] = &[&["127.0.0.1"]];
    let scene = scene(&["*", "?127.0.0.0/8"], &[("own.test", there)], clerk()).await;
    for host in ["own.test", "127.0.0.1"] {
        assert!(scene.fetch(host).await.ends_with("hello"));
    }
    assert_eq!(scene.clerk.asked.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_person_can_say_no() {
    let no = Clerk { answer: Err("denied by ada: not today".into()), ..clerk() };
    let scene = scene(&["?127.0.0.1"], &[], no).await;
    let told = scene.fetch("127.0.0.1").await;
    assert!(told.starts_with("HTTP/1.1 403") && told.contains("denied by ada: not today"), "{told}");
}

#[tokio::test]
async fn a_name_that_is_not_known_is_a_bad_gateway_and_a_decision_all_the_same() {
    let scene = scene(&["*"], &[], clerk()).await;
    let told = scene.fetch("nowhere.test").await;
    assert!(told.starts_with("HTTP/1.1 502") && told.contains("could not be looked up"), "{told}");
    assert_eq!(scene.decisions(), [(format!("nowhere.test:{}", scene.host.port()), Vec::new(), true)]);
}

#[tokio::test]
async fn socks_takes_names_and_addresses_and_refuses_the_rest() {
    let there: &[&[&str]] = &[&["127.0.0.1"]];
    let scene = scene(&["own.test", "127.0.0.1:PORT"], &[("own.test", there)], clerk()).await;
    let port = scene.host.port().to_be_bytes();
    let hello: &[u8] = &[5, 2, 0, 2];
    let name = [&[5, 1, 0, 3, 8], &b"own.test"[..], &port, b"x"].concat();
    let told = scene.say(&[hello, &name].concat()).await;
    assert_eq!(told[..4], [5, 0, 5, 0]);
    assert!(told.ends_with(b"hello"));
    for (request, code) in [
        ([&[5, 1, 0, 1, 10, 0, 0, 1], &port[..]].concat(), 2),
        ([&[5, 2, 0, 1, 127, 0, 0, 1], &port[..]].concat(), 7),
        ([&[5, 3, 0, 1, 127, 0, 0, 1], &port[..]].concat(), 7),
        ([&[5, 1, 0, 3, 3], &b"a b"[..], &port].concat(), 8),
        ([&[5, 1, 0, 9], &port[..]].concat(), 8),
    ] {
        let told = scene.say(&[hello, &request].concat()).await;
        assert_eq!(told[..4], [5, 0, 5, code], "{request:?}");
    }
    assert_eq!(scene.say(&[5, 1, 2]).await, [5, 0xFF], "a password is not asked for");
}

#[tokio::test]
async fn nonsense_ends_its_own_connection_and_no_other() {
    let scene = scene(&["127.0.0.1:PORT"], &[], clerk()).await;
    for (nonsense, answer) in [
        (b"\x00\x01\x02\r\n\r\n".to_vec(), "HTTP/1.1 400"),
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), "HTTP/1.1 400"),
        (
            b"GET http://a/ HTTP/1.1\r\nX: ".iter().copied().chain(vec![b'x'; 40_000]).collect(),
            "HTTP/1.1 431",
        ),
    ] {
        let told = String::from_utf8(scene.say(&nonsense).await).unwrap();
        assert!(told.starts_with(answer), "{told}");
    }
    assert!(scene.fetch("127.0.0.1").await.ends_with("hello"));
}

#[tokio::test]
async fn a_command_that_holds_many_connections_leaves_room_for_others_and_hears_why() {
    let greedy = [scene(&["a.test"], &[], clerk()).await, scene(&["a.test"], &[], clerk()).await];
    let mut held = Vec::new();
    for scene in &greedy {
        for _ in 0..150 {
            held.push(TcpStream::connect(scene.proxy).await.unwrap());
        }
    }
    // Whoever comes later has connections of its own.
    let modest = scene(&["127.0.0.1:PORT"], &[], clerk()).await;
    for _ in 0..8 {
        assert!(modest.fetch("127.0.0.1").await.ends_with("hello"));
    }
    for scene in &greedy {
        assert!(scene.clerk.crowded.load(Ordering::Relaxed) > 0);
    }
    assert_eq!(modest.clerk.crowded.load(Ordering::Relaxed), 0);
    drop(held);
}

/// Set for the part of a test that runs in a network of its own.
const INSIDE: &str = "RUNWARD_TEST_OWN_NETWORK";

/// An address of the internet that this host has there.
const OWN: &str = "9.9.9.9";

#[test]
fn an_address_of_this_host_is_not_public_though_it_belongs_to_the_internet() {
    if std::env::var_os(INSIDE).is_none() {
        let test = "an_address_of_this_host_is_not_public_though_it_belongs_to_the_internet";
        let script = format!(
            "ip link set lo up && ip addr add {OWN}/32 dev lo || exit 77; exec \"$0\" --exact {test} --nocapture"
        );
        #[expect(clippy::disallowed_methods, reason = "a test starts itself in a network of its own")]
        let mut inside = std::process::Command::new("unshare");
        inside.args(["--map-root-user", "--net", "sh", "-c", &script]).arg(std::env::current_exe().unwrap());
        let ended = inside.env(INSIDE, "1").output();
        let Some(ended) = ended.ok().filter(|ended| !matches!(ended.status.code(), Some(1 | 77 | 126 | 127)))
        else {
            eprintln!("skipped: this host gives nobody a network of their own");
            return;
        };
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let all: &[(&str, &[&[&str]])] = &[("own.test", &[&[OWN]])];
        let closed = scene(&["*"], all, clerk()).await;
        let told = closed.fetch("own.test").await;
        assert!(told.contains("9.9.9.9 is an address of this host"), "{told}");
        let named = scene(&["*", OWN], all, clerk()).await;
        assert!(!named.fetch("own.test").await.contains("is an address of this host"));
    });
}
