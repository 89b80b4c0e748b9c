"""M4: what is blocked, started by programs that run their words."""

import pathlib
import shutil

from harness.case import AGAINST, LINES, Case, table

FAMILY = "M4 carriers"

# One a line: run where the program exists, else judged.
STARTED = (pathlib.Path(__file__).parent / "carriers.txt").read_text()

SPELT = r"""
/usr/bin/touch @M
/bin/touch @M
//usr//bin//touch @M
/usr/bin/./touch @M
/usr/bin/../bin/touch @M
../../../../../../../usr/bin/touch @M
tou\ch @M
t'ou'ch @M
"touch" @M
$'touch' @M
$'\x74ouch' @M
to""uch @M
tou\␤ch @M
$(echo touch) @M
`echo touch` @M
${x:-touch} @M
x=touch; $x @M
x=tou; ${x}ch @M
x=(touch @M); "${x[@]}"
{touch,@M}
t?uch @M
/usr/bin/t[o]uch @M
/usr/bin/tou* @M
touch␉@M
TOUCH=touch; $TOUCH @M
~/../../../../../../usr/bin/touch @M
/proc/self/root/usr/bin/touch @M
/proc/self/root/bin/touch @M
/dev/fd/../root/usr/bin/touch @M
/proc/1/root/usr/bin/touch @M
/usr/bin/touch/ @M
exec 3< /usr/bin/touch; /proc/self/fd/3 @M
exec 3< /usr/bin/touch; /dev/fd/3 @M
cd /usr/bin; ./touch @W/@M
cd /usr/bin && ./touch @W/@M
cd /; usr/bin/touch @W/@M
(cd /usr/bin; exec ./touch @W/@M)
pushd /usr/bin; ./touch @W/@M
env -C /usr/bin ./touch @W/@M
hash -p /usr/bin/touch x; x @M
alias x=touch␤x @M
mkfifo p; (echo touch @M > p &); bash < p
"""


# Not tried: interpreters, shells with a file included, are taken at their name as the README says ("block those too where that
# matters"). Each of these runs what is blocked.
TAKEN_AT_THEIR_NAME = ("printf 'touch @M' > s10; bash", "printf 'touch @M' > s11; sh", "ed ", "tclsh ", "m4 ", "expect <<<", "sed -e '1etouch")


def row_case(row):
    program = row.split()[0]
    exists = shutil.which(program) or "=" in program or "/" in program or program in ("exec", "time", "TOUCH")
    if exists:
        # A pattern is about one command's own words, which an interpreter's text is not.
        told = ("node -e", "python3 -c")
        return Case(FAMILY, row, tuple(name for name in AGAINST if name != "patterns") if row.startswith(told) else AGAINST)
    return Case(FAMILY, row, ("blocked", "denied"), ("check",), through="ALLOWED")


def cases(_host):
    spelt = [Case(FAMILY, row, AGAINST, LINES) for row in table(SPELT.replace("␉", "\t"))]
    argv = [Case(FAMILY, row.split(), ("blocked", "asked"), ("raw", "execute_process"))
            for row in ("choom -n0 touch @M", "logsave f touch @M", "ssh-agent touch @M", "prlimit touch @M",
                        "setsid touch @M", "stdbuf -o0 touch @M", "flock f touch @M", "unshare touch @M", "chrt -o 0 touch @M",
                        "nohup touch @M", "setpriv touch @M", "strace touch @M", "/usr/bin/touch @M", "./../../../../usr/bin/touch @M")]
    rows = [row for row in table(STARTED) if not row.startswith(TAKEN_AT_THEIR_NAME)]
    return [row_case(row) for row in rows] + spelt + argv
