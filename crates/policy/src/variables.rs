//! Variables that decide what runs.

/// Setting one of these can make an allowed command run another program or load other code, or make bash read a
/// script differently.
const EXACT: &[&str] = &[
    "AWKLIBPATH",
    "AWKPATH",
    "BROWSER",
    "CC",
    "CDPATH",
    "CLASSPATH",
    "COMPOSER_HOME",
    "CURL_HOME",
    "CXX",
    "EDITOR",
    "ENV",
    "EXECIGNORE",
    "EXINIT",
    "FCEDIT",
    "FPATH",
    "GCONV_PATH",
    "GLOBIGNORE",
    "GOFLAGS",
    "GREP_OPTIONS",
    "HISTCMD",
    "HISTFILE",
    "HOME",
    "HOSTALIASES",
    "IFS",
    "INPUTRC",
    "JDK_JAVA_OPTIONS",
    "LESS",
    "LESSCLOSE",
    "LESSOPEN",
    "LOCPATH",
    "MAIL",
    "MAILPATH",
    "MAKEFILES",
    "MAKEFLAGS",
    "MALLOC_TRACE",
    "MANOPT",
    "MANPAGER",
    "MAVEN_OPTS",
    "MFLAGS",
    "MORE",
    "NLSPATH",
    "OPTIND",
    "PAGER",
    "PATH",
    "POSIXLY_CORRECT",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS4",
    "PSQLRC",
    "RES_OPTIONS",
    "RMT",
    "RSH",
    "RSYNC_CONNECT_PROG",
    "RSYNC_RSH",
    "SHELL",
    "SHELLOPTS",
    "SSH_ASKPASS",
    "SYSTEMD_EDITOR",
    "SYSTEMD_PAGER",
    "TAPE",
    "TAR_OPTIONS",
    "TERMCAP",
    "TERMINFO",
    "TEXTDOMAIN",
    "TEXTDOMAINDIR",
    "UNZIP",
    "VIMINIT",
    "VISUAL",
    "WGETRC",
    "XDG_CONFIG_DIRS",
    "XDG_CONFIG_HOME",
    "XDG_DATA_DIRS",
    "XDG_DATA_HOME",
    "ZDOTDIR",
    "ZIPOPT",
    "_JAVA_OPTIONS",
];

/// The same for every variable that starts like this.
const FAMILIES: &[&str] = &[
    "APT_",
    "BASH",
    "BUNDLE_",
    "CARGO_",
    "COMP_",
    "DEBUGINFOD_",
    "DOCKER_",
    "DPKG_",
    "DYLD_",
    "GEM_",
    "GIT_",
    "GNUPG",
    "GTK_",
    "GUIX_",
    "JAVA_",
    "KRB5_",
    "LD_",
    "LUA_",
    "NODE_",
    "NPM_",
    "OPENSSL_",
    "PERL",
    "PHP",
    "PIP_",
    "PYTHON",
    "QT_",
    "RIPGREP_",
    "RUBY",
    "RUNWARD_",
    "RUSTC",
    "RUSTUP_",
    "SSL_",
    "SUDO_",
    "TCL",
    "npm_config_",
];

/// Variables that bash fills with text of its own, whatever a script assigned to them before.
const NEVER_NUMBERS: &[&str] = &[
    "_",
    "COPROC",
    "DIRSTACK",
    "FUNCNAME",
    "GROUPS",
    "HOSTNAME",
    "MAPFILE",
    "OLDPWD",
    "OPTARG",
    "PIPESTATUS",
    "PWD",
    "REPLY",
];

/// Variables that bash fills with numbers.
const NUMBERS: &[&str] = &["EPOCHSECONDS", "EUID", "LINENO", "PPID", "RANDOM", "SECONDS", "SRANDOM", "UID"];

/// Whether a caller may not set this variable.
pub(crate) fn decides_what_runs(name: &str) -> bool {
    // What is assigned to a variable that bash keeps a number in is evaluated as arithmetic.
    EXACT.contains(&name)
        || is_always_a_number(name)
        || FAMILIES.iter().any(|family| name.starts_with(family))
}

/// Whether bash may put other text into this variable by itself.
pub(crate) fn is_never_a_number(name: &str) -> bool {
    NEVER_NUMBERS.contains(&name) || name.starts_with("BASH")
}

/// Whether bash itself keeps a number in it.
pub(crate) fn is_always_a_number(name: &str) -> bool {
    NUMBERS.contains(&name)
}
