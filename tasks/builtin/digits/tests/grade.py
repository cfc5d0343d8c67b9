"""Score a submission: the share of held-out images that got the right digit."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)  # isolated mode leaves the script's own folder out

import table
import verdict

OUTPUT = "submission/submission.csv"


def digit(text):
    try:
        value = table.number(text)
    except ValueError:
        value = -1
    if value not in range(10):
        raise ValueError("a digit from 0 to 9")
    return int(value)


def grade():
    answers = table.read_answers(os.path.join(HERE, "answers.csv"))
    labels = table.read_predictions(verdict.read_output(OUTPUT), OUTPUT, "label", answers, digit)
    right = sum(labels[key] == int(answer) for key, answer in answers.items())
    return {"accuracy": right / len(answers)}


if __name__ == "__main__":
    verdict.run(grade)
