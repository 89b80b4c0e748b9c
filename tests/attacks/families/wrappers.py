"""M2: wrappers read options where getopt does: after operands too, joined, abbreviated, repeated."""

from harness.case import Case, lines, table

FAMILY = "M2 wrappers"

LINES = r"""
script -qc ls /dev/null -c 'touch @M'
script -qc ls /dev/null '-ctouch @M'
script -qc ls /dev/null --command='touch @M'
script -qc ls /dev/null --command 'touch @M'
script -qc ls /dev/null --comm 'touch @M'
script -qc ls /dev/null --c='touch @M'
script -qc ls /dev/null -qc 'touch @M'
script -qc ls -c 'touch @M' /dev/null
script -q -c ls -c 'touch @M' /dev/null
script /dev/null -qc 'touch @M'
script -q /dev/null -c 'touch @M'
script -q /dev/null --command='touch @M'
script -aqc 'touch @M' /dev/null
script -eqfc 'touch @M' /dev/null
script -qec ls /dev/null -ec 'touch @M'
script --quiet /dev/null --flush -c 'touch @M'
script -q -E never -c 'touch @M' /dev/null
script -O /dev/null -qc 'touch @M'
script --log-out /dev/null -q -c 'touch @M'
script -T /dev/null -qc 'touch @M' /dev/null
script -o 9 -qc 'touch @M' /dev/null
script -q /dev/null <<< 'touch @M'
echo 'touch @M' | script -q /dev/null
su -c ls root -c 'touch @M'
su -c ls -c 'touch @M'
su root -c 'touch @M'
su -c 'touch @M'
su --command 'touch @M'
su --comm='touch @M'
su root --session-command='touch @M'
su -s /usr/bin/touch root @M
su --shell=/usr/bin/touch root @M
su root -- -c 'touch @M'
su - root -c 'touch @W/@M'
su root -s /bin/sh -- -c 'touch @M'
su <<< 'touch @M'
env -S 'touch @M'
env -S'touch @M'
env --split-string='touch @M'
env --split 'touch @M'
env -iS 'touch @M'
env -vS 'touch @M'
env -S 'A=b touch' @M
env -S '-i touch @M'
env -S '-S "touch @M"'
env -S 'touch\_@M'
env -S 'to${x}uch @M'
env -u X touch @M
env -uX touch @M
env --unset X touch @M
env --unset=X touch @M
env -i touch @M
env - touch @M
env -- touch @M
env A=b touch @M
env -C . touch @M
env --chdir . touch @M
env --default-signal=INT touch @M
env --block-signal touch @M
env --ignore-env touch @M
env env env touch @M
xargs touch <<< @M
xargs -- touch <<< @M
xargs -I{} touch {} <<< @M
xargs -I {} touch {} <<< @M
xargs -i touch {} <<< @M
xargs --replace touch {} <<< @M
xargs --replace=X touch X <<< @M
xargs -L1 touch <<< @M
xargs -l touch <<< @M
xargs -e touch <<< @M
xargs -E x touch <<< @M
xargs -n 1 touch <<< @M
xargs -n1 -P2 touch <<< @M
xargs -t touch <<< @M
xargs -a /dev/null touch @M
xargs --arg-file=/dev/null touch @M
xargs --max-args 1 touch <<< @M
xargs --max-a=1 touch <<< @M
xargs -s 2000 touch <<< @M
xargs -I touch touch @M <<< touch
xargs -I% sh -c % <<< 'touch @M'
xargs env <<< 'touch @M'
xargs nice <<< 'touch @M'
xargs <<< x -I% touch @M
xargs sh -c <<< "'touch @M'"
timeout 5 touch @M
timeout -k 1 5 touch @M
timeout -k1 5 touch @M
timeout --kill-after 1 5 touch @M
timeout --kill=1 5 touch @M
timeout -s TERM 5 touch @M
timeout --signal TERM 5 touch @M
timeout --foreground 5 touch @M
timeout --preserve 5 touch @M
timeout -v 5 touch @M
timeout -- 5 touch @M
nice touch @M
nice -n 1 touch @M
nice -n1 touch @M
nice -1 touch @M
nice -+1 touch @M
nice --1 touch @M
nice --adjustment 1 touch @M
nice --adj=1 touch @M
nice -- touch @M
nice -n 1 -n 2 touch @M
nohup touch @M
nohup -- touch @M
nohup env nice touch @M
command env nice touch @M
env bash -c 'touch @M'
env sh -c 'touch @M'
env -S 'bash -c "touch @M"'
exec env touch @M
timeout 5 env -S 'nice touch @M'
"""

ARGVS = [row.split("¦") for row in table("""
script¦-qc¦ls¦/dev/null¦-c¦touch @M
script¦-qc¦ls¦/dev/null¦-ctouch @M
script¦-qc¦ls¦/dev/null¦--command=touch @M
script¦-q¦/dev/null¦-c¦touch @M
su¦-c¦ls¦root¦-c¦touch @M
su¦root¦-c¦touch @M
env¦-S¦touch @M
env¦--split-string=touch @M
env¦-i¦touch¦@M
env¦A=b¦touch¦@M
timeout¦5¦touch¦@M
timeout¦-k¦1¦5¦touch¦@M
nice¦-n1¦touch¦@M
nohup¦touch¦@M
xargs¦-a¦/dev/null¦touch¦@M
/usr/bin/env¦touch¦@M
/usr/bin/../bin/env¦touch¦@M
//usr/bin/env¦touch¦@M
/usr/bin/touch¦@M
touch¦@M
""")]


def cases(_host):
    doors = ("execute_process", "run_network_tool", "raw")
    return [*lines(FAMILY, LINES), *(Case(FAMILY, row, doors=doors) for row in ARGVS)]
