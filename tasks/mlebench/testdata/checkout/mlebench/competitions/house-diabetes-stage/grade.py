import pandas as pd
from sklearn.metrics import cohen_kappa_score

from mlebench.competitions.utils import aligned


def grade(submission: pd.DataFrame, answers: pd.DataFrame) -> float:
    submission, answers = aligned(submission, answers, "id", ["stage"])
    return cohen_kappa_score(submission["stage"], answers["stage"], weights="quadratic")
