"""Run the command that grades a result, and read its number.

    python3 proctor_command.py '{"kind": ..., "task": ..., "command": ..., "metric": ..., "result": ..., "remedy": ...}'

kind lm_eval        writes its results as JSON, from which the task's are taken
     agent-eval     prints lines such as "name: number", of which the metric's is taken
     command        is a person's own, for the shell: it finds the result in $RESULT and the task's name in
                    $TASK, and its last line is a number or {"score": number, ...}
"""

import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

import proctor_verdict as verdict

TAIL = 64 << 10
OFFLINE = re.compile(r"ConnectionError|OfflineModeIsEnabled|NameResolutionError|Temporary failure in name resolution"
                     r"|LocalEntryNotFoundError|MaxRetryError|Network is unreachable")


def main(request):
    result = os.path.join(os.path.realpath(os.environ["PROCTOR_SUBMISSION"]), request["result"])
    return {"lm_eval": lm_eval, "agent-eval": agent_eval, "command": command}[request["kind"]](request, result)


def lm_eval(request, result):
    if importlib.util.find_spec("lm_eval"):
        program = [sys.executable, "-m", "lm_eval"]
    else:
        program = installed("lm_eval", request)
    out = tempfile.mkdtemp(prefix="lm-eval-")
    run(program + ["--model", "hf", "--model_args", f"pretrained={result}", "--tasks", request["task"],
                   "--batch_size", "8", "--output_path", out], request)
    found = [os.path.join(folder, name) for folder, _, names in os.walk(out) for name in names
             if name.startswith("results") and name.endswith(".json")]
    if not found:
        raise verdict.failed("lm_eval ended without writing its results")
    with open(max(found, key=os.path.getmtime), encoding="utf-8") as f:
        return harness_score(json.load(f), request["task"])


def harness_score(report, task):
    """Return the task's score in lm_eval's results: its own, or the mean over the tasks that it is a group of."""
    scores = {name: score for name, entry in report.get("results", {}).items()
              if (score := accuracy(entry)) is not None}
    own = accuracy(report.get("groups", {}).get(task))
    if own is None:
        own = scores.get(task)
    if own is None:
        parts = [score for name, score in scores.items() if name != task]
        if not parts:
            raise verdict.failed(f"lm_eval's results have no accuracy for {task}")
        own = sum(parts) / len(parts)
    return own, {name: score for name, score in sorted(scores.items())[:100] if name != task}, []


def accuracy(entry):
    for key in ("acc,none", "acc", "score,none", "score"):
        value = entry.get(key) if isinstance(entry, dict) else None
        if isinstance(value, (int, float)) and math.isfinite(value):
            return value
    return None


def agent_eval(request, result):
    text = run(installed("agent-eval", request) + ["--model_args", result, "--task", request["task"]], request)
    found = re.findall(r"(?im)^\W*" + re.escape(request["metric"]) + r"\W*[:=]\s*([-+]?[0-9.]+(?:e[-+]?[0-9]+)?)", text)
    if not found:
        raise verdict.NoScore("grader_unavailable", f"agent-eval printed no {request['metric']}", request["remedy"])
    return found[-1], {}, []


def command(request, result):
    text = run(["sh", "-c", request["command"]], request, RESULT=result, TASK=request["task"])
    last = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
    try:
        said = json.loads(last)
    except (ValueError, RecursionError):
        said = None
    if isinstance(said, dict) and "score" in said:
        numbers = {name: x for name, x in said.items()
                   if name != "score" and isinstance(x, (int, float)) and not isinstance(x, bool)}
        return said["score"], numbers, []
    if isinstance(said, (int, float)) and not isinstance(said, bool):
        return said, {}, []
    raise verdict.failed(f"the evaluation command's last line is no number and no {{\"score\": number}}: {last[:100]!r}")


def installed(program, request):
    if path := shutil.which(program):
        return [path]
    raise verdict.NoScore("grader_unavailable", f"{program} is not installed where graders run", request["remedy"])


def run(argv, request, **more):
    """Run a command to its end and return the end of what it prints."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith("PROCTOR_") and name != "PYTHONPATH"}
    try:
        process = subprocess.Popen(argv, env=dict(env, **more), cwd=tempfile.mkdtemp(prefix="evaluation-"),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as err:
        raise verdict.NoScore("grader_unavailable", f"{argv[0]} cannot be started: {err.strerror}", request["remedy"]) from None
    tail = b""
    with process:
        while chunk := process.stdout.read1(1 << 16):
            sys.stderr.buffer.write(chunk)
            sys.stderr.flush()
            tail = (tail + chunk)[-TAIL:]
    text = tail.decode(errors="replace")
    if process.returncode == 0:
        return text
    last = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it printed nothing")
    if module := re.search(r"No module named '([^']+)'", last):
        missing = verdict.missing_module(module[1].split(".")[0], request["kind"])
        missing.remedy = request["remedy"]
        raise missing
    if OFFLINE.search(text):
        raise verdict.NoScore("grader_unavailable", f"{request['kind']} wants to download something, and graders have no network: {last[:150]}",
                              request["remedy"])
    if process.returncode == 127 and request["kind"] == "command":
        raise verdict.NoScore("grader_unavailable", f"the evaluation command cannot be run: {last[:200]}", request["remedy"])
    raise verdict.failed(f"{request['kind']} ended with status {process.returncode}: {last[:200]}")


if __name__ == "__main__":
    verdict.run(lambda: main(json.loads(sys.argv[1])))
