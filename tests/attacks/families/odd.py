"""What is on no list: features that meet, bytes that are unusual, shells, start-up files, patches, names of directories."""

import json

from harness.case import Case, Probe, lines
from harness.servers import Stdio
from harness.world import World
from harness.worlds import ODD_NAMES

FAMILY = "odd"

BYTES = r"""
ls␀touch @M
ls; touch @M
ls touch @M
lstouch @M
ls touch @M
ls​; touch @M
ls␍␤touch @M
ls␍touch @M
ls #␍touch @M
ls #␍␤touch @M
ls ; touch @M
echo ﻿; touch @M
﻿touch @M
echo "＂; touch @M #"
echo ； touch @M; touch @M
to­uch @M; touch @M
echo $'\u0027; touch @M #'; touch @M
ls \␍␤; touch @M
cat <<E␤$(touch @M)␤E
cat <<E␤`touch @M`␤E
cat <<-E␤	$(touch @M)␤	E
cat <<"E" <<F␤a␤E␤$(touch @M)␤F
cat <<\E␤$(touch @M)␤E␤touch @M
cat <<'E␤'␤a␤E␤␤touch @M
cat <<E␍␤a␤E␤touch @M␤E␍␤touch @M
cat <<$x␤a␤$x␤touch @M
cat <<$(x)␤a␤$(x)␤touch @M
cat <<E\␤F␤a␤EF␤touch @M
cat <<E;touch @M␤a␤E
cat <<E && touch @M␤a␤E
cat <<E |␤a␤E␤touch @M
cat <<E␤a␤E ␤touch @M␤E␤touch @M
echo $(cat <<E␤a␤E␤touch @M)
echo $(cat <<E␤a␤E)␤touch @M
echo "$(cat <<'E'␤"␤E␤touch @M)"
echo ${x:-"$(touch @M)"}
echo ${x:-'$(touch @M)'}
echo "${x:-'$(touch @M)'}"
echo "${x:-"'$(touch @M)'"}"
echo "${x:=`touch @M`}"
echo ${x/$(touch @M)/}
echo ${x/#/$(touch @M)}
echo ${x^^$(touch @M)}
echo ${x%"$(touch @M)"}
echo ${#x[$(touch @M)]}
echo ${@:$(touch @M)}
echo $[$(touch @M)]
echo $((`touch @M`))
echo {a,$(touch @M)}
echo ~$(touch @M)
echo >$(touch @M)
echo >"$(touch @M)"
echo 2>&$(touch @M)
echo <<<$(touch @M)
echo > >(touch @M)
echo < <(touch @M)
[[ -f $(touch @M) ]]
[[ a =~ $(touch @M) ]]
[[ a == b || -n `touch @M` ]]
[[ ! ( a && $(touch @M) ) ]]
case x in $(touch @M)) true;; esac
case x in x) ;;& *) touch @M;; esac
case x in x) true;& y) touch @M;; esac
case x in (x) touch @M; esac
for ((touch=0;touch<1;touch++)) { touch @M; }
for x in 1; { touch @M; }
for x␤do touch @M; done
for x in; do true; done; touch @M
select x in 1; do touch @M; done <<< 1
if touch @M; then true; fi
while touch @M; do break; done
until ! touch @M; do break; done
function touch-it { touch @M; }; touch-it
f() if true; then touch @M; fi; f
f() (touch @M); f
f() [[ $(touch @M) ]]; f
f() { true; } <<E; f␤$(touch @M)␤E
f() for x in 1; do touch @M; done; f
{ true; } 2>&1 | { touch @M; }
(((1)) && touch @M)
((1)); touch @M
((1) ); touch @M
( (touch @M) )
((touch @M))
$( (touch @M) )
$((touch @M) )
echo $( (touch @M) )
echo $((1) ); touch @M
coproc { touch @M; }; wait
coproc N (touch @M); wait
time -p { touch @M; }
! { touch @M; }
true || { false || touch @M; } ; touch @M
true &touch @M
true;touch @M
true|touch @M
true|&touch @M
true&&touch @M
>@M.x touch @M
2>/dev/null >/dev/null touch @M
{x}>/dev/null touch @M
a=b c=d touch @M
a=(b) touch @M
a[0]=b touch @M
$x touch @M
$x$y touch @M
"" touch @M; touch @M
"$@" touch @M
${x+y} touch @M
$(true) touch @M
`true` touch @M
$((0))>/dev/null; touch @M
\touch @M
'touch' @M
command -v touch && touch @M
builtin command touch @M
exec 3>&1 touch @M
exec >/dev/null; touch @M
exec -a '' touch @M
. <(echo touch @M)
source /proc/self/fd/0 <<< 'touch @M'
trap "touch @M" 0
trap touch\ @M EXIT
set -- touch @M; "$@"
set -- touch @M; $*
set -- touch @M; $1 $2
set -- touch @M; ${1} ${2}
set touch @M; ${@:1}
set touch @M; eval "$*"
IFS=x; y=touchx@M; $y
alias a='touch @M'␤a
shopt -s expand_aliases␤alias a='touch @M'␤a
shopt -s extglob␤echo @(a|$(touch @M))
shopt -s lastpipe; echo touch | read x; $x @M
set -o posix; touch @M
set -e; touch @M
set -f; touch @M
set -x; PS4='$(touch @M)' ; true
set -o functrace; trap 'touch @M' DEBUG; true
set -T; trap 'touch @M' RETURN; . /dev/null
ulimit -f 0; touch @M
umask 0; touch @M
cd /; /usr/bin/touch @W/@M
enable touch; touch @M
hash touch; touch @M
hash -p /usr/bin/touch ls; ls @M
hash -p /usr/bin/touch true2; true2 @M
BASH_CMDS[ls]=/usr/bin/touch; ls @M
declare -A BASH_CMDS; BASH_CMDS[ls]=/usr/bin/touch; ls @M
ls() { command touch @M; }; ls
echo() { touch @M; }; echo
true() { touch @M; }; if true; then :; fi
cd() { touch @M; }; cd /
[() { touch @M; }; [ a ]
:() { touch @M; }; :
readonly -f ls; ls() { touch @M; }; ls
unset -f ls; ls() { touch @M; }; ls
export ls='() { touch @M; }'; ls
declare -f ls; ls() { touch @M; }; ls
declare -fx ls; touch @M
exec {fd}<>@M
exec env -S "touch @M"
env -S"touch @M"
env -- -S 'touch @M'
printf -v x '%b' 'touch @M'; $x
printf 'touch @M\n' | while read -r a b; do $a $b; done
read -r a b <<< 'touch @M'; $a $b
mapfile -t a <<< 'touch'; ${a[0]} @M
mapfile -t a < <(echo touch); "${a[@]}" @M
x=t y=ouch; $x$y @M
x=touch; "${x}" @M
x=touch; ${!x} @M
x=y y=touch; ${!x} @M
x=TOUCH; ${x,,} @M
x=htouch; ${x:1} @M
x=touchx; ${x%x} @M
x=tXuch; ${x/X/o} @M
x='touch @M'; ${x@E}
x='touch @M'; eval ${x@Q}
x='$(touch @M)'; echo "${x@P}"
x=\\\`touch\ @M\\\`; eval echo $x
echo ${x:-$(touch @M)}
echo $"$(touch @M)"
echo $"a`touch @M`"
"""

SHELLS = ("sh", "/bin/sh", "dash", "zsh", "fish", "bash", "/usr/bin/bash", "rbash", "./canary", "@W/canary", "python3", "env", "bash -c", "../bin/bash",
          "/proc/self/cwd/canary", "busybox", "", " ", "bash\n", "BASH", "a/ls", "touch", "/usr/bin/touch", "ls")

BY_SHELL = ("ls; touch @M", "touch @M", "x=(a)# ; touch @M", "ls;canary", "echo $((x)); touch @M", "ls <(touch @M)",
            "ls =(touch @M)", "echo ${(e):-'$(touch @M)'}", "ls; and touch @M", "echo (touch @M)")

PATCH = "*** Begin Patch\n*** Add File: {name}\n+x\n*** End Patch"


def patched(text):
    """A patch that rules do not let through, as text for every door that takes lines."""
    return [Case(FAMILY, row, ("list", "patchless"), ("execute_command", "shell", "exec_command"))
            for row in (f"apply_patch <<'EOF'\n{text}\nEOF", f"cd deep/.. && apply_patch <<'EOF'\n{text}\nEOF", f'apply_patch "{text}"',
                        f"applypatch <<'EOF'\n{text}\nEOF", f"apply_patch <<EOF\n{text}\nEOF", f"apply_patch<<'EOF'\n{text}\nEOF")]


def startup(name, files, call):
    """Start-up files that lie in a workspace, and a login shell there."""

    def look(host):
        place, state = host.place("startup"), host.place("state")
        mark = place / "mark"
        for file in files:
            host.write(place / file, f": > '{mark}'\n")
        config = host.write(f"{place}.toml", 'policy.allowed_commands = ["ls", "true"]\napprovals.local = false\n')
        env = host.env(state, config)
        client = Stdio(host, env, str(place))
        try:
            client.call("exec_command", {"cmd": "true", "workdir": str(place), "yield_time_ms": 5000} | call)
            return "a start-up file of the workspace was read" if mark.exists() else None
        finally:
            client.close()

    return Probe(FAMILY, f"start-up files: {name}", look)


def home_written(name, file, text):
    """A command writes what the next login shell reads: in a home that is the workspace."""

    def look(host):
        home, state, out = host.place("home"), host.place("state"), host.place("out")
        mark = out / "mark"
        config = host.write(f"{home}.toml", 'policy.allowed_commands = ["ls", "true", "echo", "cp", "cat"]\napprovals.local = false\n'
                            f'sandbox.writable_roots = ["{out}"]\n')
        env = host.env(state, config) | {"HOME": str(home)}
        host.write(home / ".bash_profile", "true\n")
        client = Stdio(host, env, str(home))
        try:
            run = lambda cmd: json.dumps(client.call("exec_command", {"cmd": cmd, "workdir": str(home), "yield_time_ms": 5000}))
            run("true")
            run(f"echo {text.format(mark=mark)!r} > {file}" if "'" not in text else f"cat > {file} <<'EOF'\n{text.format(mark=mark)}\nEOF")
            run("true")
            run("ls")
            return "what a command wrote was run by the next login shell" if mark.exists() else None
        finally:
            client.close()

    return Probe(FAMILY, f"a home that is the workspace: {name}", look)


def keyed(host):
    """The same key with other words runs nothing else's result, and a denied line is not excused by a key that ran."""
    world = World(host, "list")
    try:
        said = [json.dumps(world.stdio.call("execute_command", {"command": command, "cwd": str(world.workspace), "request_key": "k"}))
                for command in ("echo one", "touch keyed", "x=(a)# ; touch keyed")]
        return "a denied line ran under a key" if (world.workspace / "keyed").exists() or "exit_code: 0" in said[1] else None
    finally:
        world.close()


def conditional(host):
    """A skipped or piped run is judged all the same."""
    world = World(host, "list")
    try:
        first = json.dumps(world.stdio.call("execute_command", {"command": "echo touch odd", "cwd": str(world.workspace)}))
        output = first.split("output_id: ")[1][:12]
        for given in ({"input_from": output}, {"only_if": {"output_id": output, "exit_code": 0}}, {"only_if": {"output_id": output, "exit_code": 1}}):
            for command in ("bash", "sh", "xargs", "touch odd", ". /dev/stdin", "source /dev/stdin", "eval \"$(cat)\"", "mapfile -C eval -c1 x"):
                world.stdio.call("execute_command", {"command": command, "cwd": str(world.workspace)} | given)
        return "it ran" if (world.workspace / "odd").exists() else None
    finally:
        world.close()


def typed(host):
    """What is typed into an allowed program that is a shell in disguise is that program's; into one that is not, nothing."""
    world = World(host, "list")
    try:
        for command in ("cat", "read x; $x", "read -r x && eval \"$x\"", "xargs -I% %", "read x; echo $((x))", "mapfile x; echo ${x[0]@P}"):
            text = json.dumps(world.stdio.call("exec_command", {"cmd": command, "tty": True, "login": False, "yield_time_ms": 300,
                                                                "workdir": str(world.workspace)}))
            number = text.split("session ID ")[1].split("\\n")[0] if "session ID " in text else ""
            if number.isdigit():
                for chars in ("touch typed\n", "a[$(touch typed)]\n", "$(touch typed)\n", "\u0003touch typed\n", "\u001atouch typed\n", "\u0004"):
                    world.stdio.call("write_stdin", {"session_id": int(number), "chars": chars, "yield_time_ms": 250})
                world.stdio.call("kill_session", {"session_id": int(number)})
        return "it ran" if (world.workspace / "typed").exists() else None
    finally:
        world.close()


def cases(_host):
    rows = BYTES.replace("␀", "\0").replace("␍", "\r")
    yield from lines(FAMILY, rows, policies=("list", "blocked", "rego"))
    for shell in SHELLS:
        for row in BY_SHELL[:4] if shell not in ("sh", "zsh", "fish", "dash", "/bin/sh") else BY_SHELL:
            yield Case(FAMILY, row, ("list", "blocked", "rego"), ("exec_command",), more={"shell": shell})
            yield Case(FAMILY, row, ("list",), ("exec_command",), more={"shell": shell, "login": False})
    for row in BY_SHELL[:3]:
        for more in ({"tty": True}, {"stdin": "pipe"}, {"login": False, "tty": True}):
            yield Case(FAMILY, row, ("list", "blocked", "asked"), ("exec_command",), more=more)
    yield from patched(PATCH.format(name="@M"))
    for files in ((".bashrc",), (".bash_profile", ".profile", ".bash_login"), (".env", ".bash_env"), (".inputrc", ".bash_aliases"), ("profile", "etc/profile")):
        for call in ({}, {"tty": True}, {"shell": "sh"}):
            yield startup(f"{files}, {call}", files, call)
    for name, file, text in (("its profile", ".bash_profile", ": > {mark}"), (".bashrc", ".bashrc", ": > {mark}"), (".profile", ".profile", ": > {mark}"),
                             (".bash_login", ".bash_login", ": > {mark}"), (".bash_logout", ".bash_logout", ": > {mark}"),
                             ("the captured file", ".cache/runward/x", ": > {mark}")):
        yield home_written(name, file, text)
    for name in ODD_NAMES:
        yield Case(FAMILY, "ls; echo $PWD; echo ~+", ("list",), ("execute_command", "shell"), cwd=f"@W/dirs/{name}")
        yield Case(FAMILY, "cd .; echo \"$OLDPWD\" $((1))", ("list",), ("exec_command",), cwd=f"@W/dirs/{name}")
    yield Probe(FAMILY, "a key that ran excuses nothing", keyed)
    yield Probe(FAMILY, "conditions and inputs excuse nothing", conditional)
    yield Probe(FAMILY, "what is typed is data", typed)
