import pandas as pd
from sklearn.metrics import accuracy_score

from mlebench.competitions.utils import aligned


def grade(submission: pd.DataFrame, answers: pd.DataFrame) -> float:
    submission, answers = aligned(submission, answers, "id", ["digit"])
    return accuracy_score(answers["digit"], submission["digit"])
