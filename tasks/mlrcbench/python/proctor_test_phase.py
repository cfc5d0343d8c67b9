"""Run the test phase of a task on submitted methods.

    python3 proctor_test_phase.py '{"method": NAME, "methods": DIR, "restore": [FILE, ...]}'

methods is where in the submission they lie, restore what of them is the
task's own. They are put into a fresh copy of env/, whose constants are those
of the test phase and whose data/ has the test data too.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import proctor_verdict as verdict

BENCHMARK = os.path.realpath(os.environ["PROCTOR_BENCHMARK"])
SUBMISSION = os.path.realpath(os.environ["PROCTOR_SUBMISSION"])
ENV, SCRIPTS = os.path.join(BENCHMARK, "env"), os.path.join(BENCHMARK, "scripts")
SMALL = 100 << 20  # bytes: a directory above that is linked to, not copied
TAIL = 64 << 10


def assemble(methods, restore):
    """Lay out a working directory for main.py and return it."""
    work = os.path.realpath(tempfile.mkdtemp(prefix="test-phase-"))
    for name in os.listdir(ENV):
        if name not in ("methods", "output", "data", "constants.py", "MLAgentBench", "__pycache__"):
            lay(os.path.join(ENV, name), os.path.join(work, name))
    data = os.path.join(work, "data")
    os.makedirs(data)
    for folder in (os.path.join(SCRIPTS, "test_data"), os.path.join(ENV, "data")):
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if not os.path.lexists(os.path.join(data, name)):
                os.symlink(os.path.join(folder, name), os.path.join(data, name))
    for constants in (os.path.join(SCRIPTS, "test_constants.py"), os.path.join(ENV, "constants.py")):
        if os.path.exists(constants):
            shutil.copyfile(constants, os.path.join(work, "constants.py"))
            break
    shutil.copytree(os.path.join(SUBMISSION, methods), os.path.join(work, "methods"), symlinks=True,
                    ignore=shutil.ignore_patterns("__pycache__"))
    for name in restore:
        if os.path.exists(os.path.join(ENV, name)):
            lay(os.path.join(ENV, name), os.path.join(work, name))
    shutil.copytree(os.path.join(os.path.dirname(os.path.abspath(__file__)), "MLAgentBench"),
                    os.path.join(work, "MLAgentBench"))
    os.makedirs(os.path.join(work, "output"))
    return work


def lay(source, place):
    """Copy what is small; link to what is not."""
    if os.path.isdir(place) and not os.path.islink(place):
        shutil.rmtree(place)
    elif os.path.lexists(place):
        os.remove(place)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    if size(source) > SMALL:
        os.symlink(source, place)
    elif os.path.isdir(source):
        shutil.copytree(source, place, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copyfile(source, place)


def size(path):
    """Return the bytes of a file or tree, or something above SMALL once it is above that."""
    if not os.path.isdir(path):
        return os.path.getsize(path)
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            file = os.path.join(folder, name)
            total += os.path.getsize(file) if os.path.exists(file) else 0
            if total > SMALL:
                return total
    return total


def run(work, method):
    """Run main.py and return (exit status, the end of what it printed)."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith("PROCTOR_") and name != "PYTHONPATH"}
    env.update(CURR_STEP="0", PYTHONDONTWRITEBYTECODE="1")
    env.setdefault("MLR_BENCH_DIR", work)
    with subprocess.Popen([sys.executable, "main.py", "-m", method, "-p", "test"], cwd=work, env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        tail = b""
        while chunk := process.stdout.read1(1 << 16):
            sys.stderr.buffer.write(chunk)
            sys.stderr.flush()
            tail = (tail + chunk)[-TAIL:]
    return process.returncode, tail.decode(errors="replace")


def explain(status, tail, method, work):
    """Return why there is no result."""
    last = next((line.strip() for line in reversed(tail.splitlines()) if line.strip()), "it printed nothing")
    # The program is Python's own, so its files are named with the resolved path.
    frames = [os.path.relpath(path, work) for path in re.findall(r'^ *File "([^"]+)", line', tail, re.M)]
    theirs = any(frame.startswith("methods" + os.sep) for frame in frames)
    module = re.search(r"No module named '([^']+)'", last)
    if module and not theirs:
        return verdict.missing_module(module[1].split(".")[0], "the test phase")
    if last == f"KeyError: {method!r}":
        return verdict.invalid(f"methods/__init__.py has no method named {method}")
    if theirs:
        return verdict.invalid(f"the method {method} failed in the test phase: {last[:200]}")
    lost = re.search(r"No such file or directory: '([^']+)'", last)
    if lost and lost[1].startswith(("data/", "./data/")):
        return verdict.NoScore("data_missing", f"the test phase looks for {lost[1]}, which the checkout does not have",
                               "prepare the task's data as the suite's README says (scripts/prepare.py), then grade the run again")
    return verdict.failed(f"main.py -m {method} -p test ended with status {status} and no result: {last[:200]}")


def grade(request):
    work = assemble(request["methods"], request["restore"])
    status, tail = run(work, request["method"])
    try:
        with open(os.path.join(work, "output", "idea_evals.json"), encoding="utf-8") as f:
            found = [e for e in json.load(f)["implementations"] if e["phase"] == "test" and e["method_name"] == request["method"]]
    except (OSError, ValueError, KeyError, TypeError):
        found = []
    if not found:
        raise explain(status, tail, request["method"], work)
    result = found[-1]
    if result["performance"] is None:
        raise verdict.invalid("the method's score in the test phase is no finite number")
    return result["performance"], {
        "test_seconds": result.get("runtime"),
        "relative_runtime_percent": result.get("relative_runtime"),
        "statements": result.get("method_complexity"),
        "relative_complexity_percent": result.get("relative_complexity"),
    }, []


if __name__ == "__main__":
    verdict.run(lambda: grade(json.loads(sys.argv[1])))
