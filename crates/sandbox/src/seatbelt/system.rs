//! What command line programs need of macOS itself, whatever they are confined to.

/// Everything is closed but this: programs start others and deal with those in the same sandbox, and read.
const BEGINNING: &str = "\
(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow file-read*)
";

/// Device files that every program may write to. Their modes and names stay as they are.
const DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
];

/// Terminals. Those of other people's windows belong to the same user, so only what was opened in this sandbox can
/// be opened by name; what the command was given is open already, and has to be recognised as a terminal.
const TERMINALS: &str = r#"(allow pseudo-tty)
(allow file-read* file-write* file-ioctl (literal "/dev/ptmx"))
(deny file-read-data (regex #"^/dev/ttys[0-9]+$"))
(allow file-read-data file-write*
  (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))
(allow file-ioctl (literal "/dev/tty") (regex #"^/dev/ttys[0-9]+$"))
"#;

/// A second name for a file would be one that no rule knows. Git, Cargo and package managers rename or copy instead.
const LINKS: &str = "(deny file-link)\n";

/// Python's locks between processes, and settings, which are read from memory that their service shares.
const SHARED: &str = r#"(allow ipc-posix-sem)
(allow ipc-posix-shm-read* (ipc-posix-name-prefix "apple.cfprefs."))
(allow user-preference-read)
"#;

/// What compilers, runtimes and test runners ask of the kernel. Not `kern.proc` and its like: other processes, their
/// arguments and environments stay out of sight.
const FACTS: [&str; 19] = [
    "kern.argmax",
    "kern.bootargs",
    "kern.boottime",
    "kern.hostname",
    "kern.maxfiles",
    "kern.maxfilesperproc",
    "kern.maxproc",
    "kern.ngroups",
    "kern.osproductversion",
    "kern.osrelease",
    "kern.ostype",
    "kern.osvariant_status",
    "kern.osversion",
    "kern.secure_kernel",
    // Where the stack of the first thread is: Rust programs may end without it.
    "kern.usrstack64",
    "kern.version",
    "sysctl.proc_cputype",
    "sysctl.proc_translated",
    "vm.loadavg",
];

/// The same by what their names begin with: the processor, memory and caches; and which addresses this host has,
/// which Node insists on.
const FAMILIES: [&str; 3] = ["hw.", "machdep.cpu.", "net.routetable."];

/// Services that ordinary programs talk to. Not those that open other programs, hold keys or share the clipboard.
const SERVICES: [&str; 6] = [
    // Names of users and groups.
    "com.apple.system.opendirectoryd.libinfo",
    "com.apple.system.opendirectoryd.membership",
    // Where the user's own temporary and cached files are; clang asks.
    "com.apple.bsd.dirhelper",
    // Settings, to be read.
    "com.apple.cfprefsd.agent",
    "com.apple.cfprefsd.daemon",
    // Which proxies are set; some HTTP clients end where they cannot ask.
    "com.apple.SystemConfiguration.configd",
];

/// The same for programs with the host's network: names and certificates. These services use the network themselves.
pub(super) const NETWORK_SERVICES: [&str; 4] = [
    "com.apple.SystemConfiguration.DNSConfiguration",
    "com.apple.dnssd.service",
    "com.apple.trustd",
    "com.apple.trustd.agent",
];

/// What every text begins with.
pub(super) fn rules() -> String {
    let mut devices = filters("literal", &DEVICES);
    devices.push(r#"(subpath "/dev/fd")"#.into());
    let facts = [filters("sysctl-name", &FACTS), filters("sysctl-name-prefix", &FAMILIES)].concat();
    [
        BEGINNING,
        &rule("allow file-write-data", &devices),
        TERMINALS,
        LINKS,
        SHARED,
        &rule("allow sysctl-read", &facts),
        &rule("allow mach-lookup", &filters("global-name", &SERVICES)),
    ]
    .concat()
}

/// One rule, a line for each filter.
pub(super) fn rule(action: &str, filters: &[String]) -> String {
    format!("({action}\n  {})\n", filters.join("\n  "))
}

/// Filters of one kind. The values are ours and hold nothing that would have to be escaped.
pub(super) fn filters(kind: &str, values: &[&str]) -> Vec<String> {
    values.iter().map(|value| format!(r#"({kind} "{value}")"#)).collect()
}
