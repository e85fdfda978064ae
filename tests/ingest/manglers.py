"""What people do to a log on its way into a ticket: as functions from the log to the paste.

Each stands for a product or a habit, made by hand after its manners. What is not among them: pictures, and base64, which
may be anything.
"""
# ruff: noqa: E501 - one habit on one line

from __future__ import annotations

import html
import json
import pprint
import quopri
import textwrap
import urllib.parse
from collections.abc import Callable

FAULTS = {
    "glibc": """[1,0]<stdout>:starting rank 0
[1,3]<stderr>:./train: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by /opt/amazon/openmpi/lib/libopen-rte.so.40)
mpirun detected that one or more processes exited with non-zero status
""",
    "oom": """[rank3]: Traceback (most recent call last):
[rank3]:   File "/code/train.py", line 88, in <module>
[rank3]:     loss.backward()
[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 3 has a total capacity of 79.11 GiB of which 1.20 GiB is free. Process 812 has 77.90 GiB memory in use.
""",
    "xid": """Nov 30 20:15:03 gpu-17 systemd[1]: Started Session 12 of User root.
Nov 30 20:15:04 gpu-17 kernel: NVRM: Xid (PCI:0000:4e:00): 79, pid=81234, name=python3, GPU has fallen off the bus.
Nov 30 20:15:05 gpu-17 kernel: NVRM: GPU 0000:4e:00.0: GPU has fallen off the bus.
""",
    "nccl": """gpu-17:81234:81502 [3] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.0.3.77<0>
gpu-17:81234:81511 [3] transport/net_ib.cc:2043 NCCL WARN NET/IB: Got completion from peer 10.0.3.78<41230> with status=12 opcode=0 len=0 vendor err 129 (Recv) localGid ::ffff:10.0.3.77 remoteGids::ffff:10.0.3.78 hca mlx5_0
gpu-17:81234:81502 [3] NCCL INFO comm 0x5581 rank 3 nranks 16 cudaDev 3 - Abort COMPLETE
""",
    "slurm": """srun: Job step aborted: Waiting up to 32 seconds for job step to finish.
slurmstepd: error: Detected 1 oom_kill event in StepId=88123.0. Some of the step tasks have been OOM Killed.
srun: error: gpu-17: task 3: Out Of Memory
""",
    "import": """Traceback (most recent call last):
  File "/code/train.py", line 3, in <module>
    import torch
  File "/usr/lib/python3/site-packages/torch/__init__.py", line 290, in <module>
    from torch._C import *
ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory
""",
}


def lines(log: str) -> list[str]:
    return log.rstrip("\n").split("\n")


def each(log: str, form: Callable[[int, str], str]) -> str:
    """Return the log with every line in a form, which is told the line's number as well."""
    return "".join(form(number, line) for number, line in enumerate(lines(log), 1))


def wrap(log: str, width: int) -> str:
    """Return the log as a terminal breaks it."""
    rows = [line[at : at + width] for line in lines(log) for at in range(0, max(1, len(line)), width)]
    return "\n".join(rows) + "\n"


def word_wrap(log: str, width: int) -> str:
    """Return the log as a mail program breaks it."""
    rows = (textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False) or [""] for line in lines(log))
    return "".join(f"{row}\n" for broken in rows for row in broken)


def panes(log: str, width: int = 100) -> str:
    """Return the log in the left one of two panes."""
    beside = ("top - 20:15:04 up 3 days", "%Cpu(s):  1.2 us", "", "MiB Mem : 515623.1 total")
    return each(wrap(log, width), lambda i, row: f"\u2502{row.ljust(width)}\u2502 {beside[i % 4]}\n")


# fmt: off
MANGLERS: dict[str, Callable[[str], str | bytes]] = {
    "slack copy": lambda log: "Alex Kim\n  8:15 PM\nhi team :wave: job is dead :sob:\n" + log + "\nShow more\n:eyes: 3  :white_check_mark: 1\n4 replies\n",
    "slack code in one line": lambda log: "Alex Kim  8:15 PM\n```" + log.rstrip("\n") + "```\n(edited)\n",
    "slack api": lambda log: json.dumps({"type": "message", "text": "help <@U123>: ```" + html.escape(log, quote=False) + "```"}),
    "teams": lambda log: "[30/11 20:15] Kim, Alex\n" + log.replace("\n", "\r\n").replace("  ", "\u00a0 ") + "\r\n like 1\r\n",
    "teams quote": lambda log: "Kim, Alex\n30/11 20:15\n" + "".join("    " + line + "\n" for line in lines(log)),
    "outlook reply": lambda log: "From: Alex\nSent: Monday\nSubject: RE: job\n\nHi,\n\n" + "".join("> " + line + "\n" for line in lines(word_wrap(log, 76))),
    "outlook flowed": lambda log: "Hi,\n\n" + word_wrap(log, 78).replace("\n", "\r\n"),
    "outlook blank lines": lambda log: log.replace("\n", "\r\n\r\n"),
    "mail qp": lambda log: "Content-Transfer-Encoding: quoted-printable\n\n" + quopri.encodestring(log.encode()).decode(),
    "jira noformat": lambda log: "{noformat}\n" + log + "{noformat}\n",
    "jira noformat same line": lambda log: "Log: {noformat:title=train.log}" + log.rstrip("\n") + "{noformat}\n",
    "jira escaped": lambda log: log.replace("[", "\\[").replace("]", "\\]").replace("{", "\\{"),
    "confluence table": lambda log: "||rank||log||\n" + "".join(f"|{i}|{line}|\n" for i, line in enumerate(lines(log))),
    "confluence html table": lambda log: "<table><tbody>" + "".join(f"<tr><td>{i}</td><td><code>{html.escape(line)}</code></td></tr>" for i, line in enumerate(lines(log))) + "</tbody></table>\n",
    "markdown table": lambda log: "| n | log |\n| --- | --- |\n" + "".join(f"| {i} | {line} |\n" for i, line in enumerate(lines(log))),
    "github details": lambda log: "<details>\n<summary>Full log</summary>\n\n```shell\n" + log + "```\n\n</details>\n",
    "github quoted reply": lambda log: "> <details><summary>log</summary>\n> \n> ```\n" + "".join("> " + line + "\n" for line in lines(log)) + "> ```\n> </details>\n\nsame here\n",
    "word quotes": lambda log: log.replace("`", "\u2018").replace("'", "\u2019").replace("...", "\u2026").replace(" - ", " \u2013 ").replace('"', "\u201d"),
    "word nonbreaking": lambda log: log.replace(": ", ":\u00a0").replace("  ", "\u00a0\u00a0"),
    "fullwidth colon": lambda log: log.replace(": ", "\uff1a"),
    "terminal prompt 80": lambda log: "(base) alex@gpu-17:~/work$ tail train.log\n" + wrap(log, 80) + "(base) alex@gpu-17:~/work$ \n",
    "terminal 100": lambda log: wrap(log, 100),
    "terminal 132": lambda log: wrap(log, 132),
    "terminal 80 padded": lambda log: "".join(line.ljust(80) + "\n" for line in lines(wrap(log, 80))),
    "tmux pane": lambda log: panes(log),
    "tmux left border": lambda log: "".join("│" + line + "\n" for line in lines(wrap(log, 110))),
    "vim numbers wrapped": lambda log: "".join(f"{i:4d} {line}\n" for i, line in enumerate(lines(log), 120)),
    "less -N": lambda log: "".join(f"{i:7d} {line}\n" for i, line in enumerate(lines(log), 1)),
    "less -N wrapped": lambda log: "".join((f"{i:7d} " if k == 0 else " " * 8) + p + "\n" for i, line in enumerate(lines(log), 1) for k, p in enumerate([line[j : j + 72] for j in range(0, max(1, len(line)), 72)])),
    "cat -A": lambda log: log.replace("\t", "^I").replace("\n", "$\n"),
    "cat -A crlf": lambda log: log.replace("\n", "^M$\n"),
    "cat -A colour": lambda log: "".join("^[[31m" + line + "^[[0m$\n" for line in lines(log)),
    "cat -n": lambda log: "".join(f"{i:6d}\t{line}\n" for i, line in enumerate(lines(log), 1)),
    "bat": lambda log: "───────┬────────────\n       │ File: train.log\n───────┼────────────\n" + "".join(f"{i:4d}   │ {line}\n" for i, line in enumerate(lines(log), 1)) + "───────┴──────────\n",
    "diff plus": lambda log: "--- a.log\n+++ b.log\n@@ -1,3 +1,9 @@\n step 1\n" + "".join("+" + line + "\n" for line in lines(log)),
    "diff >": lambda log: "12a13,15\n" + "".join("> " + line + "\n" for line in lines(log)),
    "grep -n file": lambda log: "".join(f"logs/rank3.log:{i * 3 + 7}:{line}\n" for i, line in enumerate(lines(log))),
    "grep -A context": lambda log: "".join(f"rank3.log-{i + 7}-{line}\n" if i != 1 else f"rank3.log:{i + 7}:{line}\n" for i, line in enumerate(lines(log))),
    "csv cells": lambda log: 'id,owner,log\n1,alex,"' + log.replace('"', '""').rstrip("\n") + '"\n2,kim,"ok"\n',
    "csv row per line": lambda log: "time;host;message\n" + "".join(f'2026-11-30 20:15:04;gpu-17;"{line.replace(chr(34), chr(34) * 2)}"\n' for line in lines(log)),
    "json string": lambda log: json.dumps({"job": "a", "stderr": "\u001b[31m" + log + "\u001b[0m", "code": 1}),
    "json pretty": lambda log: json.dumps({"job": "a", "events": {"stderr": log}, "code": 1}, indent=2),
    "json array of lines": lambda log: json.dumps({"log": lines(log)}, indent=2),
    "json double encoded": lambda log: json.dumps({"payload": json.dumps({"stderr": log})}),
    "yaml block": lambda log: "status:\n  message: |\n" + "".join("    " + line + "\n" for line in lines(log)) + "  code: 1\n",
    "yaml folded quoted": lambda log: "message: " + json.dumps(log) + "\nexitCode: 1\n",
    "yaml single quoted": lambda log: "message: '" + log.replace("'", "''").replace("\n", "\n\n  ") + "'\n",
    "python bytes": lambda log: "subprocess failed: " + repr(log.encode()) + "\n",
    "python repr": lambda log: "stderr=" + repr(log) + "\n",
    "python list": lambda log: repr(lines(log)) + "\n",
    "python list of bytes": lambda log: repr([(line + "\n").encode() for line in lines(log)]) + "\n",
    "python pprint": lambda log: pprint.pformat(lines(log), width=80) + "\n",
    "go quoted": lambda log: 'level=error msg="step failed" output=' + json.dumps(log) + "\n",
    "shell heredoc set -x": lambda log: "+ ./run.sh\n" + "".join("++ " + line + "\n" for line in lines(log)),
    "docker build": lambda log: "#12 [5/9] RUN ./train\n" + "".join(f"#12 {i * 0.3 + 1.2:.3f} {line}\n" for i, line in enumerate(lines(log))) + "#12 ERROR: process did not complete successfully: exit code: 1\n",
    "ansible": lambda log: "fatal: [gpu-17]: FAILED! => " + json.dumps({"changed": True, "rc": 1, "stderr": log, "stderr_lines": lines(log)}) + "\n",
    "ansible yaml": lambda log: "fatal: [gpu-17]: FAILED! => \n  stderr: |-\n" + "".join("    " + line + "\n" for line in lines(log)),
    "notebook ipynb": lambda log: json.dumps({"cells": [{"cell_type": "code", "outputs": [{"name": "stderr", "output_type": "stream", "text": [line + "\n" for line in lines(log)]}]}]}, indent=1),
    "html pre spans": lambda log: "<pre><span style='color:red'>" + html.escape(log) + "</span></pre>",
    "html br": lambda log: "<p>" + html.escape(log).replace("\n", "<br/>").replace("  ", "&nbsp; ") + "</p>",
    "discord": lambda log: "alex — Today at 8:15 PM\n```ansi\n" + log + "```\n",
    "zoom chat": lambda log: "20:15:04 From Alex Kim to Everyone:\n" + "".join("\t" + line + "\n" for line in lines(log)),
    "rst literal": lambda log: "Log::\n\n" + "".join("    " + line + "\n" for line in lines(log)) + "\nThanks\n",
    "org example": lambda log: "#+begin_example\n" + log + "#+end_example\n",
    "latex verbatim": lambda log: "\\begin{verbatim}\n" + log + "\\end{verbatim}\n",
    "windows console utf16": lambda log: ("\ufeff" + log.replace("\n", "\r\n")).encode("utf-16-le"),
    "zero width in words": lambda log: log.replace("o", "o\u200b"),
    "bidi": lambda log: "\u202a" + log + "\u202c",
    "url encoded": lambda log: "log=" + urllib.parse.quote(log) + "\n",
    "mail bars": lambda log: "On Monday Alex wrote:\n" + "".join("| " + line + "\n" for line in lines(log)),
    "speedscope spaces collapsed": lambda log: "\n".join(" ".join(line.split()) for line in lines(log)) + "\n",
    "all on one line": lambda log: " ".join(line.strip() for line in lines(log)) + "\n",
    "log in ticket fields": lambda log: "*Environment:* gpu-17\n*Description:* Job died\n*Log:* " + log,
    "servicenow": lambda log: "[code]<pre>" + html.escape(log) + "</pre>[/code]\n",
    "asciidoc ----": lambda log: "[source]\n----\n" + log + "----\n",
    "powershell error prefix": lambda log: "python.exe : " + log.replace("\n", "\r\n") + "    + CategoryInfo          : NotSpecified: (:String) [], RemoteException\r\n",
    "gh actions ui numbers own lines": lambda log: "".join(f"{i}\n{line}\n" for i, line in enumerate(lines(log), 1)),
    "gh actions ui glued numbers": lambda log: "".join(f"{i}{line}\n" for i, line in enumerate(lines(log), 1)),
    "gitlab ui tab numbers": lambda log: "".join(f"{i}\t{line}\n\n" for i, line in enumerate(lines(log), 1)),
    "cloudwatch ui copy": lambda log: "".join(f"2026-11-30T20:15:0{i}.123Z\n{line}\n" for i, line in enumerate(lines(log), 1)),
    "cloudwatch ui indented": lambda log: "".join(f"2026-11-30T21:15:0{i}.123+01:00\t\n\t{line}\n" for i, line in enumerate(lines(log), 1)),
    "gcp csv": lambda log: "insertId,timestamp,severity,textPayload\n" + "".join(f'a{i},2026-11-30T20:15:0{i}.123456789Z,ERROR,"{line.replace(chr(34), chr(34) * 2)}"\n' for i, line in enumerate(lines(log))),
    "gcp json": lambda log: json.dumps([{"insertId": "a", "timestamp": f"2026-11-30T20:15:0{i}.123456789Z", "severity": "ERROR", "textPayload": line, "resource": {"labels": {"pod_name": "x"}}} for i, line in enumerate(lines(log))], indent=2),
    "azure json": lambda log: json.dumps({"tables": [{"name": "PrimaryResult", "columns": [{"name": "TimeGenerated"}, {"name": "LogMessage"}], "rows": [[f"2026-11-30T20:15:0{i}Z", line] for i, line in enumerate(lines(log))]}]}),
    "splunk json": lambda log: "".join(json.dumps({"preview": False, "offset": i, "result": {"_raw": line, "_time": "2026-11-30T20:15:04.000+0000"}}) + "\n" for i, line in enumerate(lines(log))),
    "datadog json": lambda log: json.dumps({"data": [{"id": "a", "type": "log", "attributes": {"timestamp": "2026-11-30T20:15:04.123Z", "message": line, "status": "error"}} for line in lines(log)]}),
    "wandb output.log": lambda log: "".join(f"{i} {line}\n" for i, line in enumerate(lines(log), 4211)),
    "script typescript": lambda log: 'Script started on 2026-11-30 20:15:04+00:00 [TERM="xterm"]\n\x1b[?2004h$ ./train\r\n\x1b[?2004l\r' + log.replace("\n", "\r\n") + "\x1b[?2004hexit\r\n\nScript done\n",
    "asciinema cast": lambda log: json.dumps({"version": 2, "width": 80}) + "\n" + "".join(json.dumps([i * 0.5, "o", line + "\r\n"]) + "\n" for i, line in enumerate(lines(log))),
    "screen hardcopy 80": lambda log: "\n".join(line.ljust(80) for line in lines(wrap(log, 80))) + "\n\n\n",
    "two columns pr": lambda log: "".join(line.ljust(140) + "\t| other log line\n" for line in lines(log)),
    "ts from moreutils": lambda log: "".join(f"Nov 30 20:15:0{i} {line}\n" for i, line in enumerate(lines(log))),
    "annotate-output": lambda log: "".join(f"20:15:04 {'EO'[i % 2]}: {line}\n" for i, line in enumerate(lines(log))),
    "tee process names foreman": lambda log: "".join(f"20:15:04 trainer.1   | {line}\n" for line in lines(log)),
    "supervisord": lambda log: "".join(f"2026-11-30 20:15:04,123 DEBG 'trainer' stderr output:\n{line}\n" for line in lines(log)),
    "airflow": lambda log: "".join(f"[2026-11-30, 20:15:04 UTC] {{subprocess.py:93}} INFO - {line}\n" for line in lines(log)),
    "airflow 2 iso": lambda log: "".join(f"[2026-11-30T20:15:04.123+0000] {{subprocess.py:93}} INFO - {line}\n" for line in lines(log)),
    "argo workflow": lambda log: "".join(f'train-abc12-1234567: time="2026-11-30T20:15:04Z" level=info msg={json.dumps(line)}\n' for line in lines(log)),
    "argo plain": lambda log: "".join(f"train-abc12-1234567: {line}\n" for line in lines(log)),
    "azureml": lambda log: "".join(f"[2026-11-30T20:15:04] [{line}]\n" for line in lines(log)),
    "databricks": lambda log: "".join(f"26/11/30 20:15:04 INFO PythonRunner: {line}\n" for line in lines(log)),
    "determined": lambda log: "".join(f"[2026-11-30T20:15:04.123456Z] 1234abcd || [rank=3] {line}\n" for line in lines(log)),
    "skypilot": lambda log: "".join(f"(train, pid=1234) {line}\n" for line in lines(log)),
    "skypilot worker": lambda log: "".join(f"(worker1, rank=1, pid=1234, ip=10.0.0.2) {line}\n" for line in lines(log)),
    "dstack/runpod iso": lambda log: "".join(f"2026-11-30T20:15:04.123456789Z {line}\n" for line in lines(log)),
    "modal": lambda log: "".join(f"Nov 30  20:15:04.123  {line}\n" for line in lines(log)),
    "lightning rank": lambda log: "".join(f"[rank: 3] {line}\n" for line in lines(log)),
    "flux": lambda log: "".join(f"3: {line}\n" for line in lines(log) * 4),
    "jsrun/lsf tee": lambda log: "Sender: LSF System <lsf@n1>\nSubject: Job 12: <train> Exited\n\nThe output (if any) follows:\n\n" + log + "\n\nPS:\n",
    "pbs header": lambda log: "Begin PBS Prologue Mon Nov 30 20:15:04 UTC 2026\n" + log,
    "gnu parallel --tag": lambda log: "".join(f"gpu-17\t{line}\n" for line in lines(log) * 3),
    "clush": lambda log: "".join(f"gpu-17: {line}\ngpu-18: {line}\n" for line in lines(log)),
    "clush -b folded": lambda log: "---------------\ngpu-[17-18] (2)\n---------------\n" + log,
    "dshbak": lambda log: "----------------\ngpu-17\n----------------\n" + log,
    "salt": lambda log: "gpu-17:\n" + "".join("    " + line + "\n" for line in lines(log)),
    "fabric": lambda log: "".join(f"[gpu-17] out: {line}\n" for line in lines(log) * 2),
    "pytest -n gw": lambda log: "----- Captured stderr call -----\n" + "".join("E       " + line + "\n" for line in lines(log)),
    "pytest E lines": lambda log: "".join("E   " + line + "\n" for line in lines(log)),
    "ctest": lambda log: "".join(f"12: {line}\n" for line in lines(log) * 3),
    "bazel/ninja": lambda log: "[12/40] Running\nFAILED: x\n" + log,
    "make prefix": lambda log: "".join(f"make[1]: {line}\n" for line in lines(log)),
    "windows path prefix wsl": lambda log: "".join(f"wsl: {line}\r\n" for line in lines(log)),
    "slack with mrkdwn bullets": lambda log: "".join("• " + line + "\n" for line in lines(log)),
    "notion toggle dash": lambda log: "".join("- " + line + "\n" for line in lines(log)),
    "star bullets": lambda log: "".join("* " + line + "\n" for line in lines(log)),
    "backtick each line": lambda log: "".join("`" + line + "`\n" for line in lines(log)),
    "bold md": lambda log: "".join("**" + line + "**\n" for line in lines(log)),
    "double backtick": lambda log: "".join("``" + line + "``  \n" for line in lines(log)),
    "parenthesised by chatbot": lambda log: "Here is the log:\n\n```text\n" + log + "```\n\nIt says the job failed.\n",
    "md escaped": lambda log: log.replace("_", "\\_").replace("*", "\\*").replace("<", "\\<").replace("[", "\\["),
    "google docs smart": lambda log: log.replace("`", "‘").replace("'", "’").replace("--", "—"),
    "autocapitalised": lambda log: "\n".join(line[:1].upper() + line[1:] for line in lines(log)),
    "ts ms epoch": lambda log: "".join(f"1796069704123 {line}\n" for line in lines(log)),
    "ts s epoch frac": lambda log: "".join(f"1796069704.123 {line}\n" for line in lines(log)),
    "elapsed brackets": lambda log: "".join(f"[   12.3s] {line}\n" for line in lines(log)),
    "mosaic composer": lambda log: "".join(f"2026-11-30 20:15:04,123: rank3[812][MainThread]: INFO: composer.trainer: {line}\n" for line in lines(log)),
    "nemo run": lambda log: "".join(f"trainer/0 {line}\n" for line in lines(log)),
    "torchx": lambda log: "".join(f"trainer/3 {line}\n" for line in lines(log) * 2),
    "kubetail": lambda log: "".join(f"[llama-ft-worker-3 pytorch] {line}\n" for line in lines(log) * 2),
    "kail": lambda log: "".join(f"team-a/llama-ft-worker-3[pytorch]: {line}\n" for line in lines(log) * 2),
    "k9s/lens ts": lambda log: "".join(f"pytorch 2026-11-30T20:15:04.123456789Z {line}\n" for line in lines(log) * 2),
    "oc adm node-logs": lambda log: "".join(f"Nov 30 20:15:04.123456 gpu-17 crio[12]: {line}\n" for line in lines(log)),
    "az aks json string": lambda log: json.dumps({"logs": log, "exitCode": 0}),
    "ssm run-command": lambda log: json.dumps({"StandardErrorContent": log, "Status": "Failed"}, indent=4),
    "describe-training-job": lambda log: json.dumps({"TrainingJobName": "a", "FailureReason": 'AlgorithmError: ExecuteUserScriptError:\nExitCode 1\nErrorMessage "' + log + '"'}, indent=4),
    "xml cdata": lambda log: "<testcase><system-err><![CDATA[" + log + "]]></system-err></testcase>\n",
    "xml escaped junit": lambda log: '<testcase><failure message="x">' + html.escape(log) + "</failure></testcase>\n",
    "toml multi": lambda log: "err = '''\n" + log + "'''\n",
    "ini continuation": lambda log: "[log]\nstderr = " + log.replace("\n", "\n\t") + "\n",
    "sql dump": lambda log: "INSERT INTO logs VALUES (1,'" + log.replace("'", "\\'").replace("\n", "\\n") + "');\n",
    "psql \\x row": lambda log: "-[ RECORD 1 ]-----\nid  | 1\nlog | " + log.rstrip("\n").replace("\n", "+\n    | ") + "\n",
    "psql table": lambda log: " id | log \n----+------\n" + "".join(f"  {i} | {line}\n" for i, line in enumerate(lines(log))) + "(3 rows)\n",
}
# fmt: on
