"""C3: paths that lead elsewhere for the command than for the server, and programs swapped in between."""

from harness.case import ARGVS, LINES, Case, table

FAMILY = "C3 places"

# Below each the workspace has a program `usr/bin/ls`, `bin/ls`, `tools/run`: what the list allows is the system's.
VIEWS = ("/proc/self/cwd", "/proc/thread-self/cwd", "/dev/fd/../cwd", "/proc/self/task/../cwd", "//proc/self/cwd",
         "/proc/./self/cwd", "/proc/self/../self/cwd", "/proc/self/fd/../cwd", "proc-link/self/cwd",
         "/proc/self/root@W", "self-cwd", "/proc/self/cwd/.", "/proc/self/cwd/deep/..", "cwd-link", "twice")

SCRIPTS = r"""
@V/usr/bin/ls @M
env @V/usr/bin/ls @M
nice @V/usr/bin/ls
exec @V/usr/bin/ls
command @V/usr/bin/ls
xargs @V/usr/bin/ls <<< x
true; @V/usr/bin/ls
cd deep/..; @V/usr/bin/ls
timeout 5 @V/usr/bin/ls
"""

ODD = r"""
/proc/$$/cwd/usr/bin/ls
/proc/$BASHPID/cwd/usr/bin/ls
/proc/1/cwd/usr/bin/ls
/proc/1/root@W/usr/bin/ls
cd /proc/self/cwd; ./usr/bin/ls
cd /proc/self/cwd && usr/bin/ls
cd /proc/self/root; .@W/usr/bin/ls
exec 3< usr/bin/ls; /proc/self/fd/3
exec 3< usr/bin/ls; /dev/fd/3
exec 3< usr/bin/ls; /proc/$$/fd/3
/dev/stdin < usr/bin/ls
/proc/self/fd/0 < usr/bin/ls
/dev/fd/0 < usr/bin/ls
/dev/fd/63 63< usr/bin/ls
cd usr/bin; ./ls
cd usr; bin/ls
usr/bin/ls
./usr/bin/ls
./ls
@W/ls
@W/usr/bin/ls
bin/ls
env -C usr/bin ./ls
env --chdir=usr/bin ./ls
cd /; ls=@W/ls; $ls
"""


def cases(host):
    found = []
    for view in VIEWS:
        found += [Case(FAMILY, row.replace("@V", view), ("list-in-root", "rego-path"), ("execute_command",)) for row in table(SCRIPTS)[:4]]
        found += [Case(FAMILY, [f"{view}/usr/bin/ls", "@M"], ("list-in-root",), (door,)) for door in ARGVS]
    found += [Case(FAMILY, row.replace("@V", "/proc/self/cwd"), ("list-in-root", "rego-path"), LINES) for row in table(SCRIPTS)]
    found += [Case(FAMILY, ["/proc/self/cwd/tools/run"], ("absolute",), ARGVS, cwd="@W/deep")]
    found += [Case(FAMILY, "/proc/self/cwd/tools/run", ("absolute",), LINES, cwd="@W/deep")]
    found += [Case(FAMILY, row, ("list-in-root",), ("execute_command", "exec_command")) for row in table(ODD)]
    by_cwd = ("/proc/self/cwd", "/proc/self/root@W", "/proc/thread-self/cwd", "/proc/1/cwd",
              "cwd-link")
    found += [Case(FAMILY, ["./usr/bin/ls"], ("list-in-root",), ("raw", "execute_process"), cwd=cwd) for cwd in by_cwd]
    return found
