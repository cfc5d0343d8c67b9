import pandas as pd
from sklearn.metrics import root_mean_squared_error

from mlebench.competitions.utils import aligned


def grade(submission: pd.DataFrame, answers: pd.DataFrame) -> float:
    submission, answers = aligned(submission, answers, "id", ["progression"])
    return root_mean_squared_error(y_true=answers["progression"], y_pred=submission["progression"])
