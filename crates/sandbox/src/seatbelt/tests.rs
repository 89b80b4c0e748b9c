use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use runward_model::{Profile, Tier};

use super::*;

/// A rule or a part of one.
#[derive(Debug, PartialEq)]
enum Form {
    Word(String),
    Text(String),
    List(Vec<Form>),
}

/// Reads a text as Seatbelt would; panics where parentheses or quotes do not match.
fn read(text: &str) -> Vec<Form> {
    let mut open: Vec<Vec<Form>> = vec![Vec::new()];
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.next() {
        let form = match next {
            '(' => {
                open.push(Vec::new());
                continue;
            }
            ')' => Form::List(open.pop().unwrap()),
            '"' => Form::Text(rest.by_ref().take_while(|&next| next != '"').collect()),
            _ if next.is_whitespace() || next == '#' || next == '\'' => continue,
            _ => {
                let mut word = String::from(next);
                while let Some(next) = rest.next_if(|next| !next.is_whitespace() && !"()\"".contains(*next)) {
                    word.push(next);
                }
                Form::Word(word)
            }
        };
        open.last_mut().expect("a parenthesis too many").push(form);
    }
    assert_eq!(open.len(), 1, "a parenthesis is missing");
    open.remove(0)
}

impl Form {
    fn list(&self) -> &[Form] {
        if let Form::List(forms) = self { forms } else { &[] }
    }

    fn word(&self) -> &str {
        if let Form::Word(word) = self { word } else { "" }
    }

    /// The names of all parameters in here.
    fn parameters(&self) -> Vec<&str> {
        match self.list() {
            [first, Form::Text(name)] if first.word() == "param" => vec![name],
            forms => forms.iter().flat_map(Form::parameters).collect(),
        }
    }
}

impl Seatbelt {
    /// Whether an operation on a path is allowed: the last rule that matches says so.
    fn allows(&self, operation: &str, path: &str) -> bool {
        let rules = read(&self.text);
        let mut verdict = "";
        for rule in &rules {
            // A condition holds, as on newer systems.
            let rule = if rule.list()[0].word() == "if" { &rule.list()[2] } else { rule };
            let (operations, filters): (Vec<_>, Vec<_>) =
                rule.list()[1..].iter().partition(|form| !form.word().is_empty());
            let covers = |form: &&Form| match form.word().strip_suffix('*') {
                Some(family) => operation.starts_with(family),
                None => ["default", operation].contains(&form.word()),
            };
            let matches = filters.is_empty() || filters.iter().any(|filter| self.matches(filter, path));
            if operations.iter().any(covers) && matches {
                verdict = rule.list()[0].word();
            }
        }
        verdict == "allow"
    }

    fn matches(&self, filter: &Form, path: &str) -> bool {
        let [kind, value] = filter.list() else { return false };
        let wanted = match (value, value.list()) {
            (Form::Text(text), _) => text.as_str(),
            (_, [_, Form::Text(name)]) => self.value(name),
            _ => return false,
        };
        match kind.word() {
            "literal" => path == wanted,
            "subpath" => Path::new(path).starts_with(wanted),
            // What stands before the first bracket is enough to tell ours apart.
            "regex" => wanted[1..].split('[').next().is_some_and(|start| path.starts_with(start)),
            _ => false,
        }
    }

    fn value(&self, name: &str) -> &str {
        let found = self.parameters.iter().find(|(known, _)| known == name);
        found.expect("a parameter is not defined").1.to_str().unwrap()
    }
}

fn texts(paths: &[&str]) -> Vec<CString> {
    paths.iter().map(|path| CString::new(*path).unwrap()).collect()
}

fn workspace(network: Network) -> Fence {
    Fence {
        profile: Profile::WorkspaceWrite,
        tier: Tier::None,
        network,
        writable: texts(&["/Users/ada/site", "/tmp/build"]),
        protected: texts(&["/Users/ada/site/.git/hooks", "/Users/ada/site/.mcp.json"]),
        hidden: texts(&["/Users/ada/.ssh", "/Users/ada/site/keys/secret"]),
        shown: Vec::new(),
        temporary: Some(c"/var/folders/ab/T/runward-1-0".to_owned()),
        temporary_size: 1 << 30,
        keep: Duration::ZERO,
        directory: c"/Users/ada/site".to_owned(),
        placeholders: Vec::new(),
    }
}

fn read_only(network: Network) -> Fence {
    Fence { writable: Vec::new(), protected: Vec::new(), ..workspace(network) }
}

/// Both profiles with each of the three networks.
fn all() -> Vec<Seatbelt> {
    let networks = [(Network::Off, None), (Network::Listed, Some(3128)), (Network::On, None)];
    let both =
        |(network, outlet)| [workspace(network), read_only(network)].map(|it| Seatbelt::new(&it, outlet));
    networks.into_iter().flat_map(both).collect()
}

fn usual() -> Seatbelt {
    Seatbelt::new(&workspace(Network::Off), None)
}

#[test]
fn every_text_is_whole_and_begins_closed() {
    for seatbelt in all() {
        let forms = read(&seatbelt.text);
        assert_eq!(forms[..2], read("(version 1) (deny default)"));
        for form in &forms {
            assert!(["version", "allow", "deny", "if"].contains(&form.list()[0].word()), "{form:?}");
        }
    }
}

#[test]
fn every_parameter_is_used_and_every_one_used_is_defined_once() {
    for seatbelt in all() {
        let forms = read(&seatbelt.text);
        let mut used: Vec<&str> = forms.iter().flat_map(Form::parameters).collect();
        used.sort_unstable();
        used.dedup();
        let mut defined: Vec<&str> = seatbelt.parameters.iter().map(|(name, _)| name.as_str()).collect();
        defined.sort_unstable();
        assert_eq!(used, defined);
    }
}

#[test]
fn a_path_cannot_speak_the_language_of_rules() {
    let hostile = "/Users/ada/x\")) (allow default)\n; \\\" (param \"HIDDEN_0\") #\"";
    let with = |path: &str| Fence {
        writable: texts(&[path]),
        protected: texts(&[&format!("{path}/.git/hooks")]),
        hidden: texts(&[&format!("{path}/keys/a")]),
        temporary: Some(CString::new(format!("{path}/t")).unwrap()),
        ..workspace(Network::On)
    };
    let found = Seatbelt::new(&with(hostile), None);
    assert_eq!(found.text, Seatbelt::new(&with("/Users/ada/x"), None).text);
    assert_eq!(found.value("WRITABLE_0"), hostile);
    assert!(found.arguments().contains(&format!("WRITABLE_0={hostile}").into()));
    assert!(found.allows("file-write-data", &format!("{hostile}/a")));
    assert!(!found.allows("file-write-data", "/Users/ada/y"));
}

#[test]
fn a_path_need_not_be_text() {
    let odd = CString::new(b"/Users/ada/\xff\xfe".to_vec()).unwrap();
    let fence = Fence { writable: vec![odd.clone()], ..workspace(Network::Off) };
    let arguments = Seatbelt::new(&fence, None).arguments();
    let expected = [b"WRITABLE_0=", odd.as_bytes()].concat();
    assert!(arguments.iter().any(|argument| argument.as_bytes() == expected));
}

#[test]
fn what_is_protected_can_be_read_and_not_changed() {
    let seatbelt = usual();
    for path in ["/Users/ada/site/.git/hooks", "/Users/ada/site/.git/hooks/a", "/Users/ada/site/.mcp.json"] {
        for operation in ["data", "create", "unlink", "mode", "xattr"] {
            assert!(!seatbelt.allows(&format!("file-write-{operation}"), path), "{operation} {path}");
        }
        assert!(seatbelt.allows("file-read-data", path));
    }
    for path in ["/Users/ada/site/a", "/Users/ada/site/.git/index", "/private/tmp/build/a"] {
        assert!(seatbelt.allows("file-write-create", path) && seatbelt.allows("file-write-unlink", path));
    }
    for path in ["/Users/ada/a", "/Users/ada/site2", "/private/tmp/a", "/etc/hosts", "/private/etc/hosts"] {
        assert!(!seatbelt.allows("file-write-data", path), "{path}");
    }
}

#[test]
fn what_is_hidden_is_out_of_reach_by_every_way() {
    for seatbelt in all() {
        for path in ["/Users/ada/.ssh", "/Users/ada/.ssh/id", "/Users/ada/site/keys/secret"] {
            for operation in [
                "file-read-data",
                "file-read-metadata",
                "file-read-xattr",
                "file-write-unlink",
                "file-write-create",
                "file-clone",
                "process-exec",
                "network-outbound",
                "network-bind",
            ] {
                assert!(!seatbelt.allows(operation, path), "{operation} {path}");
            }
        }
        assert!(seatbelt.allows("file-read-data", "/Users/ada/site/keys/public"));
        assert!(!seatbelt.allows("file-link", "/Users/ada/site/a"));
    }
}

#[test]
fn no_directory_above_a_rule_can_be_moved_away() {
    let seatbelt = usual();
    let areas = ["/Users/ada/site", "/private/tmp/build", "/private/var/folders/ab/T/runward-1-0"];
    for path in areas.into_iter().chain(["/Users/ada/site/.git", "/Users/ada/site/keys"]) {
        assert!(!seatbelt.allows("file-write-unlink", path), "{path}");
        assert!(seatbelt.allows("file-write-mode", path), "{path}");
    }
    assert!(!seatbelt.allows("file-write-create", "/Users/ada/site/.git"), "nor moved to where one would be");
    assert!(seatbelt.allows("file-write-create", "/Users/ada/site/keys"));
}

#[test]
fn a_read_only_fence_writes_to_devices_and_temporary_files_alone() {
    let seatbelt = Seatbelt::new(&read_only(Network::Off), None);
    for path in ["/dev/null", "/dev/fd/1", "/private/var/folders/ab/T/runward-1-0/a"] {
        assert!(seatbelt.allows("file-write-data", path), "{path}");
    }
    for path in ["/Users/ada/site/a", "/private/var/folders/ab/T/a", "/dev/disk0", "/dev/ttys001"] {
        assert!(!seatbelt.allows("file-write-data", path), "{path}");
    }
    assert!(!seatbelt.allows("file-write-unlink", "/dev/null"));
    assert!(!seatbelt.allows("file-read-data", "/dev/ttys001"), "another window's terminal");
}

#[test]
fn a_fence_around_nothing_leaves_no_rule_without_a_filter() {
    let fence = Fence { hidden: Vec::new(), temporary: None, ..read_only(Network::Off) };
    let seatbelt = Seatbelt::new(&fence, None);
    assert_eq!((seatbelt.text.as_str(), seatbelt.parameters.len()), (&*system::rules(), 0));
    assert!(!seatbelt.allows("file-write-data", "/Users/ada/site/a"));
    assert!(seatbelt.allows("file-read-data", "/Users/ada/.ssh/id"));
}

#[test]
fn without_network_no_rule_speaks_of_it() {
    for fence in [workspace(Network::Off), read_only(Network::Off)] {
        let text = Seatbelt::new(&fence, None).text;
        assert!(!text.contains("network") && !text.contains("socket") && !text.contains("dnssd"), "{text}");
    }
}

#[test]
fn a_proxy_is_all_the_network_there_is_for_lists_of_hosts() {
    let without = Seatbelt::new(&workspace(Network::Listed), None);
    assert_eq!(without, Seatbelt::new(&workspace(Network::Off), None));
    {
        let found = Seatbelt::new(&workspace(Network::Listed), Some(3128));
        let added = found.text.strip_prefix(&usual().text).unwrap();
        assert_eq!(added, "(allow network-outbound\n  (remote ip \"localhost:3128\"))\n");
        assert_eq!(found.parameters, usual().parameters);
    }
}

#[test]
fn with_the_network_sockets_in_files_stay_within_the_fence() {
    let seatbelt = Seatbelt::new(&workspace(Network::On), None);
    // Nothing that has a path: an address.
    assert!(seatbelt.allows("network-outbound", "") && seatbelt.allows("network-inbound", ""));
    for path in ["/private/var/run/mDNSResponder", "/Users/ada/site/a.sock"] {
        assert!(seatbelt.allows("network-outbound", path), "{path}");
    }
    for path in ["/private/var/run/docker.sock", "/Users/ada/site/.git/hooks/a", "/Users/ada/.ssh/agent"] {
        assert!(
            !seatbelt.allows("network-outbound", path) && !seatbelt.allows("network-bind", path),
            "{path}"
        );
    }
    assert!(!seatbelt.allows("network-bind", "/private/var/run/mDNSResponder"));
    let read_only = Seatbelt::new(&read_only(Network::On), None);
    assert!(!read_only.allows("network-bind", "/Users/ada/site/a.sock"), "to bind one makes a file");
}

#[test]
fn the_arguments_end_where_the_command_begins() {
    let fence = Fence { hidden: Vec::new(), ..read_only(Network::Off) };
    let seatbelt = Seatbelt::new(&fence, None);
    let temporary = "TEMPORARY_0=/private/var/folders/ab/T/runward-1-0";
    assert_eq!(seatbelt.arguments(), ["-p", &seatbelt.text, "-D", temporary, "--"]);
}

#[test]
fn the_whole_text_is_this() {
    let seatbelt = Seatbelt::new(&workspace(Network::On), None);
    assert_eq!(seatbelt.text, WHOLE);
    let parameters: Vec<_> =
        seatbelt.parameters.iter().map(|(name, path)| (name.as_str(), path.to_str().unwrap())).collect();
    assert_eq!(
        parameters,
        [
            ("WRITABLE_0", "/Users/ada/site"),
            ("WRITABLE_1", "/private/tmp/build"),
            ("TEMPORARY_0", "/private/var/folders/ab/T/runward-1-0"),
            ("PROTECTED_0", "/Users/ada/site/.git/hooks"),
            ("PROTECTED_1", "/Users/ada/site/.mcp.json"),
            ("HIDDEN_0", "/Users/ada/.ssh"),
            ("HIDDEN_1", "/Users/ada/site/keys/secret"),
            ("KEPT_0", "/Users/ada/site/.git"),
            ("PINNED_0", "/Users/ada/site/keys"),
        ]
    );
}

const WHOLE: &str = r#"(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow file-read*)
(allow file-write-data
  (literal "/dev/null")
  (literal "/dev/zero")
  (literal "/dev/random")
  (literal "/dev/urandom")
  (literal "/dev/tty")
  (literal "/dev/stdin")
  (literal "/dev/stdout")
  (literal "/dev/stderr")
  (subpath "/dev/fd"))
(allow pseudo-tty)
(allow file-read* file-write* file-ioctl (literal "/dev/ptmx"))
(deny file-read-data (regex #"^/dev/ttys[0-9]+$"))
(allow file-read-data file-write*
  (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))
(allow file-ioctl (literal "/dev/tty") (regex #"^/dev/ttys[0-9]+$"))
(deny file-link)
(allow ipc-posix-sem)
(allow ipc-posix-shm-read* (ipc-posix-name-prefix "apple.cfprefs."))
(allow user-preference-read)
(allow sysctl-read
  (sysctl-name "kern.argmax")
  (sysctl-name "kern.bootargs")
  (sysctl-name "kern.boottime")
  (sysctl-name "kern.hostname")
  (sysctl-name "kern.maxfiles")
  (sysctl-name "kern.maxfilesperproc")
  (sysctl-name "kern.maxproc")
  (sysctl-name "kern.ngroups")
  (sysctl-name "kern.osproductversion")
  (sysctl-name "kern.osrelease")
  (sysctl-name "kern.ostype")
  (sysctl-name "kern.osvariant_status")
  (sysctl-name "kern.osversion")
  (sysctl-name "kern.secure_kernel")
  (sysctl-name "kern.usrstack64")
  (sysctl-name "kern.version")
  (sysctl-name "sysctl.proc_cputype")
  (sysctl-name "sysctl.proc_translated")
  (sysctl-name "vm.loadavg")
  (sysctl-name-prefix "hw.")
  (sysctl-name-prefix "machdep.cpu.")
  (sysctl-name-prefix "net.routetable."))
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership")
  (global-name "com.apple.bsd.dirhelper")
  (global-name "com.apple.cfprefsd.agent")
  (global-name "com.apple.cfprefsd.daemon")
  (global-name "com.apple.SystemConfiguration.configd"))
(allow file-write*
  (subpath (param "WRITABLE_0"))
  (subpath (param "WRITABLE_1"))
  (subpath (param "TEMPORARY_0")))
(deny file-write*
  (literal (param "PROTECTED_0"))
  (subpath (param "PROTECTED_0"))
  (literal (param "PROTECTED_1"))
  (subpath (param "PROTECTED_1")))
(deny file-read* file-write* process-exec
  (literal (param "HIDDEN_0"))
  (subpath (param "HIDDEN_0"))
  (literal (param "HIDDEN_1"))
  (subpath (param "HIDDEN_1")))
(if (defined? 'file-clone)
(deny file-clone
  (literal (param "HIDDEN_0"))
  (subpath (param "HIDDEN_0"))
  (literal (param "HIDDEN_1"))
  (subpath (param "HIDDEN_1")))
)
(deny file-write-create file-write-unlink
  (literal (param "KEPT_0")))
(deny file-write-unlink
  (literal (param "WRITABLE_0"))
  (literal (param "WRITABLE_1"))
  (literal (param "TEMPORARY_0"))
  (literal (param "PINNED_0")))
(allow network*)
(allow system-socket)
(deny network-bind network-outbound
  (regex #"^/"))
(allow network-bind network-outbound
  (subpath (param "WRITABLE_0"))
  (subpath (param "WRITABLE_1"))
  (subpath (param "TEMPORARY_0")))
(deny network-bind network-outbound
  (literal (param "PROTECTED_0"))
  (subpath (param "PROTECTED_0"))
  (literal (param "PROTECTED_1"))
  (subpath (param "PROTECTED_1"))
  (literal (param "HIDDEN_0"))
  (subpath (param "HIDDEN_0"))
  (literal (param "HIDDEN_1"))
  (subpath (param "HIDDEN_1")))
(allow network-outbound
  (literal "/private/var/run/mDNSResponder"))
(allow mach-lookup
  (global-name "com.apple.SystemConfiguration.DNSConfiguration")
  (global-name "com.apple.dnssd.service")
  (global-name "com.apple.trustd")
  (global-name "com.apple.trustd.agent"))
"#;
