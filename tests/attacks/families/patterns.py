"""M5: a pattern is held against one spelling of a command, and it is run in another."""

from harness.case import ARGVS, Case, table

FAMILY = "M5 patterns"

LINES = r"""
touch '␤' @M
touch '␤␤' @M
touch $'\n' @M
touch '' @M
touch $'\r' @M
touch $'\x0b' @M
touch $'\u2028' @M
touch "a␤b" @M
/usr/bin/touch @M
/bin/touch @M
../../../../../../../usr/bin/touch @M
./link @M
./deep/link @M
deep/../link @M
@W/link @M
/proc/self/root/usr/bin/touch @M
//usr/bin/touch @M
/usr/./bin/touch @M
/usr//bin/touch @M
t''ouch @M
t\ouch @M
env touch @M
env -S 'touch @M'
nice /usr/bin/touch @M
bash -c 'touch @M'
bash -c '/usr/bin/touch @M'
sh -c "touch '␤' @M"
xargs touch <<< @M
find . -maxdepth 0 -exec /usr/bin/touch @M \;
timeout 5 ./link @M
command touch @M
exec touch @M
exec -a ls touch @M
touch -- @M
touch @M␤
touch @M --
touch\␤ @M
touch   @M
touch␉@M
touch @M > /dev/null
>/dev/null touch @M
A=b touch @M
! touch @M
time touch @M
{ touch @M; }
(touch @M)
touch "@M"
touch '@M'
touch $'@M'
touch {@M,x}
cd deep; touch ../@M
cd /usr/bin; ./touch @W/@M
"""

# In the form of the documented example: a pattern over the words, marks included.
ARGVS_TRIED = table("""
touch¦␤¦@M
touch¦␤␤¦@M
touch¦a␤b¦@M
touch¦¦@M
/usr/bin/touch¦@M
/usr/bin/../bin/touch¦@M
../../../../../../../usr/bin/touch¦@M
./link¦@M
@W/link¦@M
/proc/self/root/usr/bin/touch¦@M
//usr/bin/touch¦@M
touch¦--¦@M
touch¦-c¦-m¦x¦@M
env¦touch¦␤¦@M
nice¦./link¦@M
xargs¦-a¦/dev/null¦touch¦␤¦@M
bash¦-c¦touch '␤' @M
""")


def cases(_host):
    doors = ("execute_command", "shell")
    return [*(Case(FAMILY, row.replace("␉", "\t"), ("dotted", "patterns"), doors) for row in table(LINES)),
            *(Case(FAMILY, row.split("¦"), ("dotted",), ARGVS) for row in ARGVS_TRIED)]
