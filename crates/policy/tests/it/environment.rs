//! Variables that a caller gives.

use runward_model::Decision;
use runward_policy::{Allowlist, EnvironmentRules, Given, Glob, Policy, SearchPath};

fn judged(rules: EnvironmentRules, name: &str, value: &str) -> Result<(), String> {
    let policy = Policy::new(Allowlist::parse("*"), SearchPath::new("/bin".as_ref())).with_environment(rules);
    policy.judge_environment(&[("FINE".to_owned(), "1".to_owned()), (name.to_owned(), value.to_owned())])
}

#[test]
fn a_variable_that_decides_what_runs_is_refused_whatever_the_list_allows() {
    let names = "PATH LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES BASH_ENV ENV SHELLOPTS BASHOPTS BASH_FUNC_x \
                 PS4 PROMPT_COMMAND IFS GCONV_PATH GIT_SSH_COMMAND GIT_EDITOR GIT_CONFIG_COUNT PYTHONSTARTUP \
                 PYTHONPATH PERL5OPT NODE_OPTIONS RUBYOPT EDITOR PAGER CDPATH RUNWARD_TOKEN";
    for name in names.split_whitespace() {
        let refusal = judged(EnvironmentRules::default(), name, "x").unwrap_err();
        assert!(refusal.contains(name) && refusal.contains("environment_allow"), "{refusal}");
    }
}

#[test]
fn a_variable_that_changes_nothing_about_what_runs_is_allowed() {
    for name in ["DEBUG", "CI", "_x", "http_proxy"] {
        assert_eq!(judged(EnvironmentRules::default(), name, "a b\nc"), Ok(()));
    }
    for name in ["LANG", "LC_ALL", "LC_CTYPE"] {
        assert_eq!(judged(EnvironmentRules::default(), name, "en_US.UTF-8"), Ok(()));
        assert!(judged(EnvironmentRules::default(), name, "zh_CN.gbk").unwrap_err().contains("UTF-8"));
    }
}

#[test]
fn the_operator_allows_by_pattern_and_what_he_denies_stays_denied() {
    let rules = || EnvironmentRules {
        allow: vec![Glob::new("GIT_AUTHOR_*"), Glob::new("GIT_SSH*")],
        deny: vec![Glob::new("*_proxy"), Glob::new("GIT_SSH_COMMAND")],
        ..EnvironmentRules::default()
    };
    assert_eq!(judged(rules(), "GIT_AUTHOR_NAME", "me"), Ok(()));
    assert_eq!(judged(rules(), "GIT_SSH", "x"), Ok(()));
    for name in ["GIT_SSH_COMMAND", "http_proxy"] {
        assert!(judged(rules(), name, "x").unwrap_err().contains("environment_deny"));
    }
    assert!(judged(rules(), "GIT_EDITOR", "x").is_err());
}

#[test]
fn a_name_that_is_none_is_refused() {
    for name in ["", "A=B", "1A", "A-B", "BASH_FUNC_x%%", "A\0", "Ä"] {
        assert!(
            judged(EnvironmentRules::default(), name, "x").unwrap_err().contains("is no name"),
            "{name:?}"
        );
    }
    assert!(judged(EnvironmentRules::default(), "A", "a\0b").unwrap_err().contains("NUL"));
    assert!(judged(EnvironmentRules::default(), "PWD", "/").is_err());
}

/// Each found to run or load something else in a program that was the only one allowed, or of the same kind.
const DECIDING: &str = "COMPILER_PATH GCC_EXEC_PREFIX LESSKEYIN LESSKEY GROFF_BIN_PATH GROFF_COMMAND_PREFIX \
    SSH_SK_HELPER SSH_PKCS11_HELPER SSH_SK_PROVIDER SSH_ASKPASS DBUS_SESSION_BUS_ADDRESS DBUS_SYSTEM_BUS_ADDRESS GOENV \
    GOROOT GOTOOLCHAIN GOCACHEPROG GOFLAGS KUBECONFIG KUBE_EDITOR NpM_config_script_shell npm_config_node_options \
    NPM_CONFIG_USERCONFIG PREFIX CMAKE_TOOLCHAIN_FILE CMAKE_C_COMPILER_LAUNCHER CMAKE_PREFIX_PATH GNUMAKEFLAGS \
    MAKEFLAGS MAKEFILES SVN_SSH SVN_EDITOR HGRCPATH HGEDITOR HGMERGE CVS_RSH CVS_SERVER P4DIFF P4EDITOR P4CONFIG \
    AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_PAGER RUSTFLAGS RUSTDOCFLAGS RUSTC_WRAPPER CARGO CARGO_HOME \
    CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER GRADLE_OPTS GRADLE_USER_HOME ANT_OPTS ANT_ARGS SBT_OPTS MAVEN_ARGS \
    CATALINA_OPTS DOTNET_STARTUP_HOOKS CORECLR_PROFILER_PATH COMPlus_Profiler MSBuildSDKsPath \
    CustomBeforeMicrosoftCommonTargets ERL_FLAGS ERL_LIBS ERL_AFLAGS ELIXIR_ERL_OPTIONS PSQL_PAGER PSQLRC PSQL_EDITOR \
    PGSERVICEFILE MYSQL_HOME LIBMYSQL_PLUGIN_DIR DELTA_PAGER GH_EDITOR GH_CONFIG_DIR SUDO_ASKPASS RESTIC_PASSWORD_COMMAND \
    BORG_PASSCOMMAND BORG_RSH VALGRIND_LIB VALGRIND_OPTS CCACHE_PREFIX CCACHE_COMPILER SCCACHE_DIR CFLAGS CXXFLAGS \
    LDFLAGS CPPFLAGS CFLAGS_x86_64_unknown_linux_gnu CC_x86_64_unknown_linux_gnu HOST_CC CGO_LDFLAGS CGO_CFLAGS_ALLOW \
    GIO_EXTRA_MODULES GIO_MODULE_DIR GST_PLUGIN_PATH GST_PLUGIN_SCANNER LIBGL_DRIVERS_PATH VK_ICD_FILENAMES \
    MAGICK_CONFIGURE_PATH MAGICK_CODER_MODULE_PATH TEXMFCNF TEXMFHOME TEXINPUTS TEXEDIT shell_escape GS_LIB GS_OPTIONS \
    TF_CLI_CONFIG_FILE TF_CLI_ARGS TF_REATTACH_PROVIDERS ANSIBLE_CONFIG ANSIBLE_LIBRARY LOCPATH GCONV_PATH GLIBC_TUNABLES \
    LD_AUDIT OPENSSL_CONF OPENSSL_MODULES GNUPGHOME XDG_RUNTIME_DIR XDG_CACHE_HOME DOCKER_CONFIG DOCKER_HOST CONTAINERS_CONF \
    HELM_PLUGINS CLOUDSDK_PYTHON AZURE_CONFIG_DIR BOTO_CONFIG GOOGLE_APPLICATION_CREDENTIALS PYTEST_ADDOPTS PYTEST_PLUGINS \
    UV_PYTHON VIRTUAL_ENV POETRY_HOME GEM_HOME RUBYLIB BUNDLE_GEMFILE PERL5LIB LUA_PATH LUA_INIT LUA_INIT_5_4 LUA_CPATH \
    R_PROFILE_USER JULIA_LOAD_PATH PHPRC PHP_INI_SCAN_DIR COMPOSER_HOME VIMINIT VIM VIMRUNTIME EXINIT EMACSLOADPATH \
    NANORC TAR_OPTIONS RSYNC_RSH UNZIP ZIPOPT WGETRC CURL_HOME SYSTEMD_PAGER SYSTEMD_LESS APT_CONFIG DPKG_ROOT \
    GDBHISTFILE DEBUGINFOD_URLS ASAN_OPTIONS ASAN_SYMBOLIZER_PATH OMP_TOOL_LIBRARIES QT_PLUGIN_PATH GTK_MODULES \
    SDL_DYNAMIC_API TMUX_TMPDIR SCREENRC LYNX_CFG NMAPDIR BC_ENV_ARGS M4PATH AWKLIBPATH RIPGREP_CONFIG_PATH FZF_DEFAULT_OPTS \
    KRB5_CONFIG ODBCSYSINI NODE_PATH YARN_PLUGINS DENO_DIR JAVA_TOOL_OPTIONS CLASSPATH JAVACMD path Ld_Preload";

#[test]
fn no_variable_is_given_that_decides_what_a_program_runs_or_loads() {
    for name in DECIDING.split_whitespace() {
        let refusal = judged(EnvironmentRules::default(), name, "x").unwrap_err();
        let parts = ["may not be given: it ", "(", "environment_allow", name];
        assert!(parts.iter().all(|part| refusal.contains(part)), "{refusal}");
    }
}

#[test]
fn callers_have_variables_of_their_own() {
    let names = "BUILD_ENV RUST_LOG RUST_BACKTRACE DEBUG CI TERM COLUMNS LINES NO_COLOR FORCE_COLOR CLICOLOR TZ PORT HOST \
        HOSTNAME DATABASE_URL API_URL API_KEY VERSION LOG_LEVEL NODE_ENV RAILS_ENV RACK_ENV MIX_ENV APP_ENV ENVIRONMENT \
        DEBIAN_FRONTEND PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PGHOST PGUSER PGPASSWORD MYSQL_HOST MYSQL_PWD \
        AWS_PROFILE AWS_REGION AWS_ACCESS_KEY_ID GITHUB_TOKEN GH_TOKEN CARGO_TERM_COLOR CARGO_INCREMENTAL GOOS GOARCH \
        CGO_ENABLED TF_VAR_region OMP_NUM_THREADS CUDA_VISIBLE_DEVICES HTTP_PROXY https_proxy NO_PROXY TMPDIR USER \
        SOURCE_DATE_EPOCH FEATURE_FLAGS TEXT MESSAGE OUT_DIR BUILD_DIR SRC_DIR CONFIG GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL \
        GIT_COMMITTER_NAME GIT_TERMINAL_PROMPT DOCKER_BUILDKIT VAULT_ADDR DJANGO_SETTINGS_MODULE x foo input LESSON";
    for name in names.split_whitespace() {
        assert_eq!(judged(EnvironmentRules::default(), name, "x"), Ok(()), "{name}");
    }
}

#[test]
fn only_named_variables_are_given_where_the_operator_wants_it_so() {
    let rules = || EnvironmentRules {
        given: Given::Listed,
        allow: vec![Glob::new("FINE"), Glob::new("BUILD_*"), Glob::new("GIT_SSH")],
        deny: vec![Glob::new("BUILD_KEY")],
    };
    for name in ["BUILD_ENV", "GIT_SSH"] {
        assert_eq!(judged(rules(), name, "x"), Ok(()), "{name}");
    }
    for name in ["RUST_LOG", "CI", "LANG", "PATH", "build_env"] {
        let refusal = judged(rules(), name, "C").unwrap_err();
        assert!(refusal.contains("is not in environment_allow") && refusal.contains(name), "{refusal}");
    }
    assert!(judged(rules(), "BUILD_KEY", "x").unwrap_err().contains("environment_deny"));
}

#[test]
fn scripts_set_none_of_them_either() {
    let list = "ls,env,export,read,printf,declare,gcc,unset";
    for name in
        ["COMPILER_PATH", "LESSKEYIN", "GNUMAKEFLAGS", "npm_config_script_shell", "NpM_config_script_shell"]
    {
        for line in [
            format!("{name}=x ls"),
            format!("{name}=x; ls"),
            format!("export {name}=x; ls"),
            format!("declare -x {name}=x; ls"),
            format!("env {name}=x ls"),
            format!("env -u {name} ls"),
            format!("read {name} < x"),
            format!("ls; printf -v {name} x"),
            format!("for {name} in x; do ls; done"),
            format!("unset {name}"),
        ] {
            assert_eq!(crate::judge(list, &line).decision, Decision::Deny, "{line}");
        }
    }
    for line in [
        "export LC_ALL=zh_CN.gbk; ls",
        "env LC_ALL=zh_CN.gbk ls",
        "env LANG=$x ls",
        "read LC_ALL < x",
        "export LANG=$x",
    ] {
        assert_eq!(crate::judge(list, line).decision, Decision::Deny, "{line}");
    }
    for line in [
        "path=x; ls \"$path\"",
        "git_dir=.git; ls \"$git_dir\"",
        "export LC_ALL=C; ls",
        "env LC_ALL=C.UTF-8 ls",
        "unset LC_ALL",
        "BUILD_ENV=x ls",
        "export NODE_ENV=test; ls",
    ] {
        let verdict = crate::judge(list, line);
        assert_eq!(verdict.decision, Decision::Allow, "{line}: {}", verdict.reason);
    }
    let refusal = crate::judge(list, "GCC_EXEC_PREFIX=x gcc -c x.c").reason;
    assert!(refusal.contains("GCC_EXEC_PREFIX") && refusal.contains("(gcc)"), "{refusal}");
}
