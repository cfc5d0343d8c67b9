"""Write step.py from starter.py with some functions exchanged, then time it.

    python3 tune.py                                    # exchanges nothing
    python3 tune.py --matmul map --transpose zip

The choices are the functions of variants.py. They are a beginning: a better
step.py does less work, and is written by hand.
"""

import argparse
import ast
from pathlib import Path

import bench

PLAIN = "plain"


def functions(source):
    """Return {name: text} of the functions of a Python source."""
    return {node.name: ast.get_source_segment(source, node)
            for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


def imports(source, used):
    """Return the import lines of a source that bring in a name which occurs in used."""
    names = {node.id for node in ast.walk(ast.parse(used)) if isinstance(node, ast.Name)}
    return [ast.get_source_segment(source, node) for node in ast.parse(source).body
            if isinstance(node, (ast.Import, ast.ImportFrom)) and names & {a.name for a in node.names}]


def assemble(starter, variants, chosen):
    """Return starter's text with each function of chosen, {name: variant}, exchanged."""
    plain, others, text = functions(starter), functions(variants), starter
    taken = []
    for name, variant in chosen.items():
        if variant != PLAIN:
            taken.append(others[f"{name}_{variant}"].replace(f"def {name}_{variant}(", f"def {name}("))
            text = text.replace(plain[name], taken[-1])
    extra = [line for line in imports(variants, "\n".join(taken)) if line not in starter]
    return text.replace("import math\n", "\n".join(["import math", *extra]) + "\n", 1)


def choices(variants):
    """Return {function: [variants]}, plain first."""
    found = {}
    for name in functions(variants):
        function, _, variant = name.rpartition("_")
        found.setdefault(function, [PLAIN]).append(variant)
    return found


def main():
    starter = Path("starter.py").read_text(encoding="utf-8")
    variants = Path("variants.py").read_text(encoding="utf-8")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0],
                                     formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    for name, values in choices(variants).items():
        parser.add_argument(f"--{name}", choices=values, default=PLAIN, help=f"how {name} is written")
    bench.options(parser)
    args = parser.parse_args()

    chosen = {name: getattr(args, name) for name in choices(variants)}
    Path("step.py").write_text(assemble(starter, variants, chosen), encoding="utf-8")
    print("wrote step.py:", ", ".join(f"{name} {variant}" for name, variant in chosen.items()), flush=True)
    ratio = bench.compare(bench.load("starter.py"), bench.load("step.py"), args.repeats, args.steps)
    print(f"seconds {ratio:.4f}")


if __name__ == "__main__":
    main()
