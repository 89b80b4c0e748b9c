"""C1: text that is glued to an array is a command to bash."""

from harness.case import lines

FAMILY = "C1 arrays"

PUBLISHED = r"""
x=(a)# ; touch @M
x=(a)ls touch @M
x=()echo touch @M
x+=(a)# ; touch @M
x+=(a)ls touch @M
x[1]=(a)# ; touch @M
declare x=(a)# ; touch @M
(x=(a)# ; touch @M)
echo $(x=(a)# ; touch @M)
if true; then x=(a)# ; touch @M; fi
f() { x=(a)# ; touch @M; }; f
"""

OTHERS = r"""
x=()# ; touch @M
x=( a b )#; touch @M
x=(a)#␤touch @M
x=(a)#;touch @M
x=('a')# && touch @M
x=(a)# | touch @M
x=(a)# & touch @M
x=([0]=a)# ; touch @M
x=([k]=a [2]=b)ls touch @M
x=(a␤b)# ; touch @M
x=(a # c␤b)# ; touch @M
x=(a)\# ; touch @M
x=(a)'' touch @M
x=(a)"" touch @M
x=(a)$y touch @M
x=(a)$() touch @M
x=(a)\␤# ; touch @M
x=(a){} touch @M
x=(a)y=1 touch @M
x=(a)=1 touch @M
x=(a)+=1 touch @M
x=(a)[1] touch @M
x=(a)~ touch @M
x=(a)* touch @M
x=(a)1>/dev/null touch @M
x=(a)>/dev/null touch @M
x=(a)</dev/null touch @M
x=(a)!; touch @M
x=(a)ls␉touch @M
x=(a) touch @M
x=(a) y=(b) touch @M
x=(a) y=2 touch @M
x=1 y=(a)# ; touch @M
x=1 y=(a)ls touch @M
x=(a)ls y=(b)# touch @M
declare -A x=([a]=b)# ; touch @M
export x=(a)# ; touch @M
readonly x=(a)# ; touch @M
typeset x=(a)# ; touch @M
f() { local x=(a)# ; touch @M; }; f
f() { local x=(a)ls; touch @M; }; f
{ x=(a)# ; touch @M; }
while true; do x=(a)# ; touch @M; break; done
until x=(a)# ; touch @M; do true; done
for i in 1; do x=(a)# ; touch @M; done
case a in a) x=(a)# ; touch @M;; esac
cat <<E␤$(x=(a)# ; touch @M)␤E
echo "$(x=(a)# ; touch @M)"
echo `x=(a)# ; touch @M`
echo `x=(a)\# ; touch @M`
cat <(x=(a)# ; touch @M)
! x=(a)# ; touch @M
time x=(a)# ; touch @M
x=(a)# ; exec touch @M
x=(a)# ; command touch @M
coproc x=(a)# ; touch @M
true && x=(a)# ; touch @M
true | x=(a)ls touch @M
x=($(echo a))# ; touch @M
x=(`echo a`)ls touch @M
x=(${y[@]})# ; touch @M
x=(<(true))# ; touch @M
x=($((1)))# ; touch @M
echo $((1))# ; touch @M
echo $(true)# ; touch @M
echo `true`# ; touch @M
echo <(true)# ; touch @M
(true)# ; touch @M␤touch @M
echo {a,b}# ; touch @M
echo ${x}# ; touch @M
echo ''# ; touch @M
echo \ # ; touch @M
f()# ;touch @M␤{ touch @M; }; f
case a in (a)# ;␤touch @M;; esac
"""


def cases(_host):
    doors = ("execute_command", "shell", "exec_command")
    return [*lines(FAMILY, PUBLISHED.replace("␉", "\t"), doors=doors), *lines(FAMILY, OTHERS.replace("␉", "\t"))]
