"""Score a submission: the root of the mean squared error on the held-out patients."""

import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)  # isolated mode leaves the script's own folder out

import table
import verdict

OUTPUT = "submission/submission.csv"
LARGEST = 1e6  # far beyond any real value, so that the sum of squares stays finite


def prediction(text):
    value = table.number(text)
    if abs(value) > LARGEST:
        raise ValueError(f"a number between -{LARGEST:,.0f} and {LARGEST:,.0f}")
    return value


def grade():
    answers = table.read_answers(os.path.join(HERE, "answers.csv"))
    predictions = table.read_predictions(verdict.read_output(OUTPUT), OUTPUT, "progression", answers, prediction)
    errors = [predictions[key] - float(answer) for key, answer in answers.items()]
    return {"rmse": math.sqrt(math.fsum(e * e for e in errors) / len(errors))}


if __name__ == "__main__":
    verdict.run(grade)
