//! The system calls that a confined command does without.
//!
//! The filter is a search tree over call numbers: Linux tries every number once when a filter is installed, so a short
//! way through it pays off with each command.

use std::io;
use std::os::fd::RawFd;

/// Which sockets a command may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sockets {
    /// None, not even local ones: without namespaces those reach the host's services.
    None,
    /// Those of the internet protocols alone: local ones reach the host's services.
    Internet,
    /// Local ones and those of the internet protocols; what they reach is up to the network namespace.
    Usual,
}

/// How files come to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Files {
    /// A command makes and changes them by itself, where it may.
    Own,
    /// What makes or changes one waits for a broker.
    Brokered,
}

/// A filter that is ready to be installed.
#[derive(Debug)]
pub(crate) struct Filter(Vec<libc::sock_filter>, Files);

type Code = Vec<libc::sock_filter>;

/// What is refused whatever its arguments: other processes' memory, the kernel's own insides, mounts, namespaces.
const DENIED: [libc::c_long; 47] = [
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_lookup_dcookie,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_nfsservctl,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
];

#[cfg(target_arch = "x86_64")]
const DENIED_HERE: [libc::c_long; 4] =
    [libc::SYS_ioperm, libc::SYS_iopl, libc::SYS_userfaultfd, libc::SYS_vhangup];
#[cfg(not(target_arch = "x86_64"))]
const DENIED_HERE: [libc::c_long; 2] = [libc::SYS_userfaultfd, libc::SYS_vhangup];

/// Newer than the C library's list: `open_tree_attr`.
const OPEN_TREE_ATTR: libc::c_long = 467;

/// Calls that programs can do without when they are told that there are none: their arguments lie in memory, which
/// a filter cannot read.
const UNKNOWN: [libc::c_long; 2] = [libc::SYS_clone3, libc::SYS_openat2];

/// Namespaces of any kind.
const NEW_NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u32;

/// What types into a terminal, or takes it over.
const TERMINAL_TRICKS: [u32; 3] = [0x5412, 0x541C, 0x541D];

/// The kernel's numbers of this architecture; anything else is another machine's program.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7;

/// From here on numbers are those of x32, the same calls by another name.
#[cfg(target_arch = "x86_64")]
const X32: u32 = 0x4000_0000;

/// The bit that makes a program run as its owner.
const SET_USER_ID: u32 = 0o4000;

/// The bits that make a new file run as its owner or its group. Directories are not made in these ways, and may be given
/// the second afterwards: in them it means something else.
const SET_IDS: u32 = 0o6000;

/// Flags of `open` with which its mode counts.
const CREATES: u32 = (libc::O_CREAT | 0o20_000_000) as u32;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const REFUSE: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
const WAIT: u32 = libc::SECCOMP_RET_USER_NOTIF;
const NO_SUCH_CALL: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;

impl Filter {
    pub(crate) fn new(sockets: Sockets, files: Files) -> Self {
        let mut calls: Vec<(u32, Code)> = Vec::new();
        let mut add =
            |call: libc::c_long, code: Code| calls.extend(u32::try_from(call).map(|call| (call, code)));
        for call in DENIED.into_iter().chain(DENIED_HERE).chain([OPEN_TREE_ATTR]) {
            add(call, vec![answer(REFUSE)]);
        }
        for call in UNKNOWN {
            add(call, vec![answer(NO_SUCH_CALL)]);
        }
        add(libc::SYS_socket, socket(sockets));
        add(libc::SYS_socketpair, only(0, &[libc::AF_UNIX as u32]));
        add(libc::SYS_clone, without_bits(0, NEW_NAMESPACES, ALLOW));
        add(libc::SYS_ioctl, without(1, &TERMINAL_TRICKS));
        let is_brokered = |call: libc::c_long| files == Files::Brokered && brokered().contains(&call);
        for (call, mode, bits) in mode_setters() {
            let then = if is_brokered(call) { WAIT } else { ALLOW };
            add(call, without_bits(mode, bits, then));
        }
        for (call, flags) in openers() {
            add(call, opening_without_bits(flags, SET_IDS, files));
        }
        let others = brokered().into_iter().filter(|call| files == Files::Brokered && !sets_mode(*call));
        for call in others {
            add(call, vec![answer(WAIT)]);
        }
        calls.sort_unstable_by_key(|(call, _)| *call);
        Filter([preamble(), tree(&calls)].concat(), files)
    }

    /// Installs it in this process; needs `no_new_privs`. Async-signal-safe. Returns what a broker listens at, if calls
    /// wait for one.
    pub(crate) fn install(&self) -> io::Result<Option<RawFd>> {
        /// Once a call is taken up, only the end of its process ends the waiting: else it could be done twice.
        const WAIT_KILLABLE: libc::c_ulong = 1 << 5;
        let length = libc::c_ushort::try_from(self.0.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let program = libc::sock_fprog { len: length, filter: self.0.as_ptr().cast_mut() };
        let listens = match self.1 {
            Files::Own => 0,
            Files::Brokered => libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | WAIT_KILLABLE,
        };
        let flags = libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW | listens;
        let operation = libc::SECCOMP_SET_MODE_FILTER;
        // SAFETY: the kernel reads `len` instructions from a live vector and does not write to it.
        let done = unsafe { libc::syscall(libc::SYS_seccomp, operation, flags, &raw const program) };
        match (self.1, RawFd::try_from(done)) {
            (_, Ok(..0) | Err(_)) => Err(io::Error::last_os_error()),
            (Files::Own, Ok(_)) => Ok(None),
            (Files::Brokered, Ok(listener)) => Ok(Some(listener)),
        }
    }
}

/// Newer than the C library's list: `fchmodat2`.
const FCHMODAT2: libc::c_long = 452;

/// What makes, changes or removes a file by its name, but for opening one.
fn brokered() -> Vec<libc::c_long> {
    let mut calls = vec![
        libc::SYS_mkdirat,
        libc::SYS_symlinkat,
        libc::SYS_linkat,
        libc::SYS_renameat,
        libc::SYS_renameat2,
        libc::SYS_unlinkat,
        libc::SYS_fchmod,
        libc::SYS_fchmodat,
        FCHMODAT2,
        libc::SYS_truncate,
        libc::SYS_mknodat,
    ];
    #[cfg(target_arch = "x86_64")]
    calls.extend([
        libc::SYS_creat,
        libc::SYS_mkdir,
        libc::SYS_symlink,
        libc::SYS_link,
        libc::SYS_rename,
        libc::SYS_unlink,
        libc::SYS_rmdir,
        libc::SYS_chmod,
        libc::SYS_mknod,
    ]);
    calls
}

fn sets_mode(call: libc::c_long) -> bool {
    mode_setters().iter().any(|(setter, ..)| *setter == call)
}

/// Calls that set a mode, which argument it is, and what may not be in it.
fn mode_setters() -> Vec<(libc::c_long, u32, u32)> {
    let mut calls = vec![
        (libc::SYS_fchmod, 1, SET_USER_ID),
        (libc::SYS_fchmodat, 2, SET_USER_ID),
        (FCHMODAT2, 2, SET_USER_ID),
        (libc::SYS_mknodat, 2, SET_IDS),
    ];
    #[cfg(target_arch = "x86_64")]
    calls.extend([
        (libc::SYS_chmod, 1, SET_USER_ID),
        (libc::SYS_creat, 1, SET_IDS),
        (libc::SYS_mknod, 1, SET_IDS),
    ]);
    calls
}

/// Calls that open, and which argument their flags are; the mode is the next.
fn openers() -> Vec<(libc::c_long, u32)> {
    let mut calls = vec![(libc::SYS_openat, 2)];
    #[cfg(target_arch = "x86_64")]
    calls.push((libc::SYS_open, 1));
    calls
}

fn instruction(code: u32, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: u16::try_from(code).unwrap_or(u16::MAX), jt, jf, k }
}

fn answer(action: u32) -> libc::sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, 0, 0, action)
}

fn load(offset: u32) -> libc::sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, offset)
}

/// The low half of an argument: all that the kernel looks at in those asked about here.
fn load_argument(index: u32) -> libc::sock_filter {
    load(16 + 8 * index)
}

fn jump(test: u32, value: u32, jt: u8, jf: u8) -> libc::sock_filter {
    instruction(libc::BPF_JMP | test | libc::BPF_K, jt, jf, value)
}

fn preamble() -> Code {
    let mut code =
        vec![load(4), jump(libc::BPF_JEQ, ARCHITECTURE, 1, 0), answer(libc::SECCOMP_RET_KILL_PROCESS)];
    code.push(load(0));
    #[cfg(target_arch = "x86_64")]
    code.extend([jump(libc::BPF_JGE, X32, 0, 1), answer(REFUSE)]);
    code
}

/// Finds the code for a call by halves; what is not listed is allowed.
fn tree(calls: &[(u32, Code)]) -> Code {
    if calls.len() <= 2 {
        let each = calls.iter().flat_map(|(call, code)| {
            let skip = u8::try_from(code.len()).unwrap_or(u8::MAX);
            [vec![jump(libc::BPF_JEQ, *call, 0, skip)], code.clone()].concat()
        });
        return each.chain([answer(ALLOW)]).collect();
    }
    let (lower, upper) = calls.split_at(calls.len() / 2);
    let first = upper.first().map_or(u32::MAX, |(call, _)| *call);
    let (lower, upper) = (tree(lower), tree(upper));
    let over =
        instruction(libc::BPF_JMP | libc::BPF_JA, 0, 0, u32::try_from(lower.len()).unwrap_or(u32::MAX));
    [vec![jump(libc::BPF_JGE, first, 0, 1), over], lower, upper].concat()
}

fn socket(sockets: Sockets) -> Code {
    const ROUTE: u32 = 0;
    let families = match sockets {
        Sockets::None => return vec![answer(REFUSE)],
        Sockets::Internet => &[libc::AF_INET, libc::AF_INET6][..],
        Sockets::Usual => &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6],
    };
    let mut code = vec![load_argument(0)];
    for family in families {
        code.extend([jump(libc::BPF_JEQ, family.cast_unsigned(), 0, 1), answer(ALLOW)]);
    }
    // Which addresses there are is asked over a socket of this kind.
    code.extend([jump(libc::BPF_JEQ, libc::AF_NETLINK as u32, 0, 3), load_argument(2)]);
    code.extend([jump(libc::BPF_JEQ, ROUTE, 0, 1), answer(ALLOW), answer(REFUSE)]);
    code
}

fn only(argument: u32, values: &[u32]) -> Code {
    let each = values.iter().flat_map(|value| [jump(libc::BPF_JEQ, *value, 0, 1), answer(ALLOW)]);
    [load_argument(argument)].into_iter().chain(each).chain([answer(REFUSE)]).collect()
}

fn without(argument: u32, values: &[u32]) -> Code {
    let each = values.iter().flat_map(|value| [jump(libc::BPF_JEQ, *value, 0, 1), answer(REFUSE)]);
    [load_argument(argument)].into_iter().chain(each).chain([answer(ALLOW)]).collect()
}

fn without_bits(argument: u32, bits: u32, then: u32) -> Code {
    vec![load_argument(argument), jump(libc::BPF_JSET, bits, 0, 1), answer(REFUSE), answer(then)]
}

/// Opening: without some bits of the mode where that counts, and by a broker where a file may be made or changed.
fn opening_without_bits(flags: u32, bits: u32, files: Files) -> Code {
    let changing = (libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC | 0o20_000_000).cast_unsigned();
    let then = if files == Files::Brokered { WAIT } else { ALLOW };
    let mut code = vec![load_argument(flags), jump(libc::BPF_JSET, CREATES, 0, 3)];
    code.extend([load_argument(flags + 1), jump(libc::BPF_JSET, bits, 0, 1), answer(REFUSE)]);
    code.extend([load_argument(flags), jump(libc::BPF_JSET, changing, 0, 1), answer(then), answer(ALLOW)]);
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the filter answers, by following it.
    fn answered(filter: &Filter, architecture: u32, call: u32, arguments: [u64; 6]) -> u32 {
        let mut data = [call.to_le_bytes(), architecture.to_le_bytes(), [0; 4], [0; 4]].concat();
        data.extend(arguments.iter().flat_map(|argument| argument.to_le_bytes()));
        let (mut at, mut loaded) = (0, 0);
        loop {
            let libc::sock_filter { code, jt, jf, k } = filter.0[at];
            let class = u32::from(code);
            at += 1;
            let taken = match class & 0xF8 {
                _ if class & 7 == libc::BPF_RET => return k,
                _ if class & 7 == libc::BPF_LD => {
                    loaded = u32::from_le_bytes(data[k as usize..k as usize + 4].try_into().unwrap());
                    continue;
                }
                kind if kind & 0xF0 == libc::BPF_JA => {
                    at += k as usize;
                    continue;
                }
                kind if kind & 0xF0 == libc::BPF_JEQ => loaded == k,
                kind if kind & 0xF0 == libc::BPF_JGE => loaded >= k,
                kind if kind & 0xF0 == libc::BPF_JSET => loaded & k != 0,
                kind => panic!("{kind:#x}"),
            };
            at += usize::from(if taken { jt } else { jf });
        }
    }

    fn of(sockets: Sockets, call: libc::c_long, arguments: [u64; 6]) -> u32 {
        answered(&Filter::new(sockets, Files::Own), ARCHITECTURE, u32::try_from(call).unwrap(), arguments)
    }

    fn usual(call: libc::c_long, arguments: &[u64]) -> u32 {
        let mut all = [0xFFFF_FFFF_0000_0000; 6];
        all.iter_mut().zip(arguments).for_each(|(place, argument)| *place |= argument);
        of(Sockets::Usual, call, all)
    }

    #[test]
    fn every_denied_call_is_refused_and_its_neighbours_are_not() {
        let filter = Filter::new(Sockets::Usual, Files::Own);
        let denied: Vec<u32> =
            DENIED.into_iter().chain(DENIED_HERE).map(|call| u32::try_from(call).unwrap()).collect();
        for call in 0..600 {
            let expected = match call {
                _ if denied.contains(&call) || call == 467 => REFUSE,
                _ if UNKNOWN.contains(&i64::from(call)) => NO_SUCH_CALL,
                _ => continue,
            };
            assert_eq!(answered(&filter, ARCHITECTURE, call, [0; 6]), expected, "{call}");
        }
        for call in [libc::SYS_read, libc::SYS_execve, libc::SYS_wait4, libc::SYS_futex, libc::SYS_ptrace] {
            assert_eq!(usual(call, &[]), ALLOW);
        }
    }

    #[test]
    fn other_numberings_are_refused() {
        let filter = Filter::new(Sockets::Usual, Files::Own);
        assert_eq!(answered(&filter, 0x4000_0003, 4, [0; 6]), libc::SECCOMP_RET_KILL_PROCESS);
        #[cfg(target_arch = "x86_64")]
        assert_eq!(answered(&filter, ARCHITECTURE, X32 + 1, [0; 6]), REFUSE);
    }

    #[test]
    fn sockets_are_told_apart_by_family() {
        for (family, protocol, expected) in [(1, 0, ALLOW), (2, 6, ALLOW), (10, 0, ALLOW), (16, 0, ALLOW)] {
            assert_eq!(usual(libc::SYS_socket, &[family, 1, protocol]), expected, "{family}");
        }
        for (family, protocol) in [(16, 9), (17, 0), (40, 0), (38, 0), (44, 0)] {
            assert_eq!(usual(libc::SYS_socket, &[family, 1, protocol]), REFUSE, "{family}");
        }
        for family in 0..50 {
            assert_eq!(of(Sockets::None, libc::SYS_socket, [family, 1, 0, 0, 0, 0]), REFUSE);
        }
        assert_eq!(of(Sockets::None, libc::SYS_socketpair, [1, 1, 0, 0, 0, 0]), ALLOW);
    }

    #[test]
    fn arguments_decide_where_they_matter() {
        assert_eq!(usual(libc::SYS_clone, &[17]), ALLOW);
        assert_eq!(usual(libc::SYS_clone, &[0x1000_0011]), REFUSE);
        assert_eq!(usual(libc::SYS_ioctl, &[0, 0x5412]), REFUSE);
        assert_eq!(usual(libc::SYS_ioctl, &[0, 0x5413]), ALLOW);
        assert_eq!(usual(libc::SYS_fchmodat, &[3, 0, 0o4755]), REFUSE);
        assert_eq!(usual(libc::SYS_fchmodat, &[3, 0, 0o2755]), ALLOW);
        assert_eq!(usual(libc::SYS_openat, &[3, 0, libc::O_CREAT as u64, 0o4755]), REFUSE);
        assert_eq!(usual(libc::SYS_openat, &[3, 0, libc::O_RDONLY as u64, 0o4755]), ALLOW);
    }

    #[test]
    fn what_makes_or_changes_a_file_waits_for_a_broker() {
        let filter = Filter::new(Sockets::Usual, Files::Brokered);
        let ask = |call: libc::c_long, arguments: [u64; 6]| {
            answered(&filter, ARCHITECTURE, u32::try_from(call).unwrap(), arguments)
        };
        let opened = |flags: i32| ask(libc::SYS_openat, [3, 0, flags.cast_unsigned().into(), 0o644, 0, 0]);
        for flags in
            [libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT, libc::O_TRUNC, libc::O_TMPFILE | libc::O_RDWR]
        {
            assert_eq!(opened(flags), WAIT, "{flags:o}");
        }
        for flags in [libc::O_RDONLY, libc::O_CLOEXEC, libc::O_DIRECTORY, libc::O_PATH] {
            assert_eq!(opened(flags), ALLOW, "{flags:o}");
        }
        for call in brokered().into_iter().filter(|call| !sets_mode(*call)) {
            assert_eq!(ask(call, [0; 6]), WAIT, "{call}");
        }
        assert_eq!(ask(libc::SYS_fchmodat, [3, 0, 0o755, 0, 0, 0]), WAIT);
        assert_eq!(ask(libc::SYS_fchmodat, [3, 0, 0o4755, 0, 0, 0]), REFUSE);
    }
}
