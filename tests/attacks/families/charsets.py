"""H4: bash reads a script in the locale's character set."""

import subprocess

from harness.case import Case, lines

FAMILY = "H4 character sets"

NAMES = ("zh_CN.gbk", "zh_CN.gb18030", "zh_TW.big5", "zh_HK.big5hkscs", "ja_JP.sjis", "ja_JP.SHIFT_JISX0213", "ko_KR.johab",
         "zh_CN.GBK", "zh_TW.BIG5", "ja_JP.SJIS", "zh_CN", "zh_TW", "de_DE.ISO-8859-1", "tr_TR.ISO-8859-9", "tr_TR.UTF-8@x",
         "C.gbk", "../../../tmp/zh", "/tmp/zh_CN.gbk", "POSIX.gbk", "C.UTF-8/../zh_CN.gbk", "zh_CN.utf8.gbk")
TEXTS = ("ls; echo \"中\\\"; touch @M #\"", "echo '中\\'; touch @M #'", "echo 中\\; touch @M", "x=\"稿\\\"; touch @M #\"",
         "echo \"丂|touch @M\"", "echo 僜touch @M", "echo \"功\\\"; touch @M #\"")
VARIABLES = ("LC_ALL", "LC_CTYPE", "LANG", "LANGUAGE", "LC_MESSAGES", "LOCPATH", "LC_COLLATE")

IN_SCRIPTS = r"""
LC_ALL=zh_CN.gbk; echo "中\"; touch @M #"
LC_ALL=zh_CN.gbk␤echo "中\"; touch @M #"
export LC_ALL=zh_CN.gbk␤echo "中\"; touch @M #"
LC_CTYPE=zh_CN.gbk␤echo "中\"; touch @M #"
LANG=zh_TW.big5␤echo "功\"; touch @M #"
declare LC_ALL=zh_CN.gbk␤echo "中\"; touch @M #"
printf -v LC_ALL zh_CN.gbk␤echo "中\"; touch @M #"
read LC_ALL <<< zh_CN.gbk␤echo "中\"; touch @M #"
for LC_ALL in zh_CN.gbk; do true; done␤echo "中\"; touch @M #"
: ${LC_ALL:=zh_CN.gbk}␤echo "中\"; touch @M #"
unset LC_ALL; LANG=zh_CN.gbk␤echo "中\"; touch @M #"
f() { local LC_ALL=zh_CN.gbk; eval 'echo "中\"; touch @M #"'; }; f
LC_ALL=zh_CN.gbk bash -c 'echo "中\"; touch @M #"'
env LC_ALL=zh_CN.gbk bash -c 'echo "中\"; touch @M #"'
"""


def known():
    listed = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.lower()
    return [name for name in NAMES if name.lower().replace("-", "") in listed.replace("-", "").splitlines()]


def cases(_host):
    # Judged alike wherever the character set exists; run where it does.
    given = [Case(FAMILY, TEXTS[index % len(TEXTS)], doors=("shell",), env={variable: name},
                  policies=("list", "blocked"), through="" if name in known() else "Command executed")
             for index, name in enumerate(NAMES[:10]) for variable in VARIABLES[:4]]
    odd = [Case(FAMILY, "echo a", ("list",), ("shell",), {"LC_ALL": name}, through="Command executed")
           for name in NAMES]
    return given + odd + lines(FAMILY, IN_SCRIPTS)
