import pandas as pd
from sklearn import metrics

from mlebench.competitions.utils import aligned


def grade(submission: pd.DataFrame, answers: pd.DataFrame) -> float:
    columns = ["progression", "bmi"]
    submission, answers = aligned(submission, answers, "id", columns)
    return sum(metrics.root_mean_squared_log_error(answers[c], submission[c]) for c in columns) / 2
