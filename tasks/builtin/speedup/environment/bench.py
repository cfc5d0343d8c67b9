"""Time step.py against starter.py and check that both compute the same.

    python3 bench.py                # three rounds
    python3 bench.py --repeats 9    # steadier

Both train on the same freshly drawn batches, one after the other, in turn.
The result is printed in seconds as the grader gives them: the median of the
rounds, on a machine where starter.py takes exactly one second.
"""

import argparse
import copy
import importlib.util
import math
import random
import statistics
import sys
import time
from pathlib import Path

import workload

RELATIVE, ABSOLUTE = 1e-6, 1e-9  # how far results may be apart


def load(path):
    """Return the function step of a Python file."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.step


def timed(step, work):
    """Return (seconds, model, losses)."""
    work = copy.deepcopy(work)
    start = time.process_time()  # unlike a clock on the wall, steady on a busy machine
    model, losses = workload.train(step, work)
    return time.process_time() - start, model, losses


def same(expected, got):
    """Report whether two results, numbers in lists in dicts, agree."""
    if isinstance(expected, dict):
        return expected.keys() == got.keys() and all(same(expected[k], got[k]) for k in expected)
    if isinstance(expected, (list, tuple)):
        return len(expected) == len(got) and all(map(same, expected, got))
    return math.isclose(expected, got, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def compare(starter, candidate, repeats, steps):
    """Return the median ratio of the candidate's time to the starter's; end the program if they disagree."""
    sizes = dict(workload.SIZES, steps=steps)
    ratios = []
    for n in range(1, repeats + 1):
        work = workload.make(random.getrandbits(64), **sizes)
        before, *expected = timed(starter, work)
        after, *got = timed(candidate, work)
        if not same(expected, got):
            sys.exit("error: step.py and starter.py disagree")
        ratios.append(after / before)
        print(f"round {n}/{repeats}  starter {before:.3f} s  step.py {after:.3f} s  {before / after:.2f}x", flush=True)
    return statistics.median(ratios)


def options(parser):
    parser.add_argument("--repeats", type=int, default=3, help="rounds: more take longer and say more")
    parser.add_argument("--steps", type=int, default=20, help="training steps in a round")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0],
                                     formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    options(parser)
    args = parser.parse_args()
    print(f"seconds {compare(load('starter.py'), load('step.py'), args.repeats, args.steps):.4f}")


if __name__ == "__main__":
    main()
