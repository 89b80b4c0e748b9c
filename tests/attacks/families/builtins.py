"""M1: builtins read their words in ways of their own, and some of them set PATH or run text."""

from harness.case import NAMED, lines

FAMILY = "M1 builtins"

SETS = r"""
getopts -- a PATH -a; ls
getopts a PATH -a; ls
getopts -- a PATH -a; a/ls
printf -v x -- 'a%n' PATH; ls
printf -v x -v PATH a; ls
printf -v PATH a; ls
printf -vPATH a; ls
printf -v PATH -- a; ls
printf -vx -vPATH a; ls
printf -v x 'a%n' PATH; ls
printf '1%n' PATH; ls
printf -- '1%n' PATH; ls
printf '%n' PATH; ls
printf '1%hn' PATH; ls
printf '1%-n' PATH; ls
printf '1%*n' 1 PATH; ls
printf '%s%n' a PATH; ls
read PATH <<< a; ls
read -- PATH <<< a; ls
read -r -- PATH <<< a; ls
read x PATH <<< 'b a'; ls
read -rd '' PATH <<< a; ls
read -a PATH <<< a; ls
read -aPATH <<< a; ls
read -ra PATH <<< a; ls
read -u 0 PATH <<< a; ls
read -n1 PATH <<< a; ls
read -N 1 PATH <<< a; ls
read -t 1 PATH <<< a; ls
read -p x PATH <<< a; ls
read -ersa PATH <<< a; ls
read -i x -e PATH <<< a; ls
mapfile PATH <<< a; ls
mapfile -t PATH <<< a; ls
mapfile -t -- PATH <<< a; ls
readarray -t PATH <<< a; ls
mapfile -tn1 PATH <<< a; ls
mapfile -O0 -t PATH <<< a; ls
mapfile -d '' -t PATH <<< a; ls
declare PATH=a; ls
declare -- PATH=a; ls
declare -x PATH=a; ls
declare -g PATH=a; ls
declare +x PATH=a; ls
declare 'PATH=a'; ls
declare PAT\H=a; ls
declare "PATH"=a; ls
declare PATH[0]=a; ls
declare -a PATH=(a); ls
declare -n p=PATH; p=a; ls
declare -n p=PATH; read p <<< a; ls
typeset PATH=a; ls
export PATH=a; ls
export -- PATH=a; ls
export -n PATH=a; ls
readonly PATH=a; ls
f() { local PATH=a; ls; }; f
f() { local -n p=PATH; p=a; ls; }; f
f() { local -; PATH=a; ls; }; f
PATH=a; ls
PATH=a ls
PATH=a command ls
PATH[0]=a; ls
PATH=(a); ls
PA\␤TH=a; ls
for PATH in a; do ls; done
select PATH in a; do ls; done <<< 1
for PATH in a b; do ls; break; done
: ${PATH:=a}; unset PATH; : ${PATH:=a}; ls
unset PATH; : "${PATH=a}"; ls
((PATH=1)); ls
let PATH=1; ls
let -- PATH=1; ls
echo $((PATH=1)); ls
[[ $((PATH=1)) ]]; ls
a[PATH=1]=2; ls
echo ${x[PATH=1]}; ls
for ((PATH=1;0;)); do :; done; ls
OPTIND=1; getopts a PATH -a; ls
wait -p PATH; ls
wait -n -p PATH; ls
cd a && PATH=. && ls
hash -p a/ls ls; ls
hash -pa/ls ls; ls
hash -r -p a/ls ls; ls
BASH_CMDS[ls]=a/ls; ls
declare -A BASH_CMDS=([ls]=a/ls); ls
printf -v 'BASH_CMDS[ls]' a/ls; ls
read 'BASH_CMDS[ls]' <<< a/ls; ls
enable -n echo; PATH=a; ls
env PATH=a ls
env -- PATH=a ls
env -i PATH=a ls
env -iS 'PATH=a ls'
env -C a ./ls
env --chdir=a ./ls
exec env PATH=a ls
command -p -- env PATH=a ls
cd a; ./ls
cd -- a; ./ls
pushd a; ./ls
CDPATH=a; cd .; ./ls
"""

RUNS = r"""
eval touch @M
eval -- touch @M
eval 'tou''ch @M'
builtin eval touch @M
command eval touch @M
command -- touch @M
command -p touch @M
command -p -- touch @M
exec touch @M
exec -a ls touch @M
exec -als touch @M
exec -cl touch @M
exec -- touch @M
builtin exec touch @M
builtin command touch @M
builtin -- eval touch @M
trap 'touch @M' EXIT
trap -- 'touch @M' EXIT
trap 'touch @M' 0
trap 'touch @M' DEBUG; true
trap 'touch @M' ERR; ls /nonexistent
trap "touch @M" exit
mapfile -C 'touch @M #' -c1 x <<< a
mapfile -C'touch @M #' -c1 x <<< a
mapfile -tC 'touch @M #' -c 1 x <<< a
readarray -c 1 -C 'touch @M #' x <<< a
complete -C 'touch @M' x; compgen -C 'touch @M'
compgen -C 'touch @M'
compgen -W '$(touch @M)'
compgen -F x -C 'touch @M'
alias ls='touch @M'; shopt -s expand_aliases␤ls
shopt -s expand_aliases; alias ls='touch @M'␤ls
source <(echo touch @M)
. <(echo touch @M)
. /dev/stdin <<< 'touch @M'
source -- /dev/stdin <<< 'touch @M'
PS4='$(touch @M)'; set -x; ls
PS4='$(touch @M)'␤set -o xtrace␤ls
declare PS4='$(touch @M)'; set -x; ls
printf -v PS4 %s '$(touch @M)'; set -x; ls
read -r PS4 <<< '$(touch @M)'; set -x; ls
BASH_XTRACEFD=1; set -x; PS4='$(touch @M)'; ls
time touch @M
time -p touch @M
time -- touch @M
time -p -- touch @M
! touch @M
! ! touch @M
coproc touch @M
coproc x { touch @M; }
function f { touch @M; }; f
function ls { touch @M; }; ls
ls() { touch @M; }; ls
ls () ( touch @M ); ls
f() { touch @M; } > /dev/null; f
export -f f; f() { touch @M; }; f
env 'BASH_FUNC_ls%%=() { touch @M; }' bash -c ls
type touch && touch @M
wait; touch @M
logout; touch @M
ulimit -S; touch @M
printf '%(%s)T'; touch @M
printf %b '`touch @M`'; eval "$_"
"""


def cases(_host):
    return [*lines(FAMILY, SETS, policies=NAMED), *lines(FAMILY, RUNS)]
