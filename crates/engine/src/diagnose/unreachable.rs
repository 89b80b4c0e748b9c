//! Which complaints are about a network that is not there, in the words of the programs that make them.

use runward_model::Network;

use super::trimmed;

/// What they print when there is no way to an address.
const UNREACHABLE: [&str; 36] = [
    "network is unreachable",
    "(from versions: none)",
    "network unreachable",
    "no route to host",
    "could not resolve host",
    "couldn't resolve host",
    "could not resolve proxy",
    "could not resolve '",
    "cannot resolve host",
    "failed to resolve '",
    "failed to resolve address",
    "failed to resolve host",
    "unable to resolve host",
    "temporary failure in name resolution",
    "temporary failure resolving",
    "failure in name resolution",
    "name or service not known",
    "name does not resolve",
    "no address associated with hostname",
    "nodename nor servname provided",
    "failed to lookup address information",
    "dns lookup error",
    "dns error",
    "dns: transient error",
    "nxdomain",
    "no such host",
    "unknown host",
    "unknownhostexception",
    "could not reach host",
    "all attempts to connect to",
    "resource temporarily unavailable (",
    "no servers could be reached",
    "enetunreach",
    "ehostunreach",
    "enotfound",
    "eai_again",
];

/// How Go says that nobody answered its question for a name.
const GO: (&str, &str) = ("lookup ", ":53:");

/// What they print when nobody listens there.
const NOBODY_THERE: [&str; 6] = [
    "connection refused",
    "couldn't connect",
    "could not connect",
    "failed to connect",
    "unable to connect",
    "econnrefused",
];

/// How they call the host that they run on.
const LOOPBACK: [&str; 4] = ["127.0.0.1", "localhost", "::1", "0.0.0.0"];

/// For whoever looks for what another command serves.
const OWN_LOOPBACK: &str = "nobody listens there: a workspace has a loopback of its own, so start the server with exec_command, where it goes on, and call it from here; services of the host need sandbox.network = \"on\"";

/// Where a line that has no capitals says that an address cannot be reached.
fn complaint(line: &str) -> Option<usize> {
    let said = UNREACHABLE.iter().filter_map(|words| line.find(words)).min();
    said.or_else(|| line.find(GO.0).filter(|_| line.contains(GO.1)))
}

/// What is said of a line that complains of an address.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// It cannot be reached; and whether it is named.
    Unreachable(String, bool),
    /// Nobody listens there.
    NobodyThere(&'static str),
}

/// What is said of a line, where it complains of an address.
pub(super) fn told(line: &str, network: Network) -> Option<Told> {
    let lower = line.to_ascii_lowercase();
    if let Some(at) = complaint(&lower) {
        let host = host(line, at);
        return Some(Told::Unreachable(unreachable(host, network), host.is_some()));
    }
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    (says(&NOBODY_THERE) && says(&LOOPBACK)).then_some(Told::NobodyThere(OWN_LOOPBACK))
}

/// What is said of a program that failed without a word, where its exit code says that it found no way.
pub(super) fn told_by_code(program: &str, code: i32, network: Network) -> Option<String> {
    let name = program.rsplit('/').next().unwrap_or(program);
    matches!((name, code), ("curl", 5 | 6) | ("wget", 4)).then(|| unreachable(None, network))
}

fn unreachable(host: Option<&str>, network: Network) -> String {
    let widen = match network {
        Network::Listed => {
            "there is no network but the proxy that http_proxy and all_proxy name, which the program did not use"
        }
        _ => "there is no network; to allow it, set sandbox.network to \"on\", or to a list of hosts",
    };
    match host {
        Some(host) => format!("{host} cannot be reached, {widen}"),
        None => widen.to_owned(),
    }
}

/// The host that a complaint at this place of a line is about: that of an address, else a name behind the complaint,
/// else the name right before it.
fn host(line: &str, at: usize) -> Option<&str> {
    let of_address = line.split_once("://").map(|(_, rest)| of_address(rest));
    let (before, behind) = line.split_at_checked(at)?;
    let behind = behind.split(between_words).map(trimmed);
    let before = before.trim_end().strip_suffix(':').and_then(|rest| rest.split(between_words).next_back());
    of_address.into_iter().chain(behind).chain(before.map(trimmed)).find(|word| looks_like_a_host(word))
}

fn between_words(letter: char) -> bool {
    letter.is_whitespace() || "'\"‘’`<>(),;=/".contains(letter)
}

/// The host of what follows `://`, without who calls it.
fn of_address(rest: &str) -> &str {
    let host =
        rest.split(|letter: char| between_words(letter) || "?#".contains(letter)).next().unwrap_or_default();
    trimmed(host.rsplit('@').next().unwrap_or_default())
}

/// Names and addresses with at least one dot, and no capitals: those are names in programs.
fn looks_like_a_host(word: &str) -> bool {
    let plain =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || ".-:[]_".contains(letter);
    word.len() > 3
        && word.contains('.')
        && !word.starts_with(['-', '.'])
        && !word.ends_with('.')
        && word.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn names(line: &str) -> Option<String> {
        let Some(Told::Unreachable(told, _)) = told(line, Network::Off) else {
            panic!("not understood: {line}");
        };
        told.split_once(" cannot be reached, there is no network; to allow it")
            .map(|(host, _)| host.to_owned())
    }

    #[test]
    fn every_common_client_is_understood_and_its_host_named() {
        for (line, host) in [
            ("curl: (6) Could not resolve host: example.com", "example.com"),
            ("wget: unable to resolve host address ‘example.com’", "example.com"),
            (
                "fatal: unable to access 'https://me:secret@git.example.com/a/b/': Could not resolve host: x.y",
                "git.example.com",
            ),
            (
                "ssh: Could not resolve hostname github.com: Temporary failure in name resolution",
                "github.com",
            ),
            (
                "npm error request to https://registry.npmjs.org/left-pad failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org",
                "registry.npmjs.org",
            ),
            ("    [cause]: Error: getaddrinfo ENOTFOUND x.org", "x.org"),
            (
                "    [6] Could not resolve hostname (Could not resolve host: index.crates.io)",
                "index.crates.io",
            ),
            (
                "go: a.b/c@v1: Get \"https://proxy.golang.org/a.b/@v/list\": dial tcp: lookup proxy.golang.org: Temporary failure in name resolution",
                "proxy.golang.org",
            ),
            (
                "dial tcp: lookup proxy.golang.org on 127.0.0.53:53: read udp 127.0.0.1:4->127.0.0.53:53: read: connection refused",
                "proxy.golang.org",
            ),
            ("  Temporary failure resolving 'deb.debian.org'", "deb.debian.org"),
            (
                "NameResolutionError(\"HTTPSConnection(host='pypi.org', port=443): Failed to resolve 'pypi.org' ([Errno -3] Temporary failure in name resolution)\")",
                "pypi.org",
            ),
            (
                "Caused by: java.net.UnknownHostException: repo.maven.apache.org: Name or service not known",
                "repo.maven.apache.org",
            ),
            (
                "[ERROR] Could not transfer artifact a:b:pom:1 from/to central: repo.maven.apache.org: Temporary failure in name resolution",
                "repo.maven.apache.org",
            ),
            (
                "Gem::RemoteFetcher::FetchError: SocketError: Failed to open TCP connection to rubygems.org:443 (getaddrinfo: Temporary failure in name resolution) (https://rubygems.org/x)",
                "rubygems.org",
            ),
            (
                "error: error sending request for url (https://deno.land/x): dns error: failed to lookup address information",
                "deno.land",
            ),
            ("ping: example.com: Name or service not known", "example.com"),
            ("All attempts to connect to pypi.org failed.", "pypi.org"),
        ] {
            assert_eq!(names(line).as_deref(), Some(host), "{line}");
        }
    }

    #[test]
    fn a_complaint_without_a_host_names_none() {
        for line in [
            "socket.gaierror: [Errno -3] Temporary failure in name resolution",
            "urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>",
            "OSError: [Errno 101] Network is unreachable",
            "npm error errno EAI_AGAIN",
            ";; no servers could be reached",
            "ERROR: Could not find a version that satisfies the requirement x (from versions: none)",
        ] {
            assert_eq!(names(line), None, "{line}");
        }
    }

    #[test]
    fn what_has_nothing_to_do_with_a_network_is_left_alone() {
        for line in [
            "✘ [ERROR] Could not resolve \"react\"",
            "npm error ERESOLVE unable to resolve dependency tree",
            "error: cannot find symbol",
            "connect to 10.0.0.1: Connection refused",
        ] {
            assert_eq!(told(line, Network::Off), None, "{line}");
        }
    }

    #[test]
    fn a_client_that_says_nothing_is_known_by_its_code() {
        assert!(told_by_code("/usr/bin/curl", 6, Network::Off).is_some());
        assert!(told_by_code("wget", 4, Network::Listed).is_some_and(|told| told.contains("the proxy")));
        assert_eq!(told_by_code("curl", 22, Network::Off), None);
        assert_eq!(told_by_code("grep", 6, Network::Off), None);
    }
}
