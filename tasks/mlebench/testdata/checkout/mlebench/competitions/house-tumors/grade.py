import pandas as pd
from sklearn.metrics import roc_auc_score

from mlebench.competitions.utils import aligned
from mlebench.grade_helpers import InvalidSubmissionError


def grade(submission: pd.DataFrame, answers: pd.DataFrame) -> float:
    submission, answers = aligned(submission, answers, "id", ["benign"])
    if submission["benign"].min() < 0 or submission["benign"].max() > 1:
        raise InvalidSubmissionError("Submission must hold probabilities")
    return roc_auc_score(y_true=answers["benign"], y_score=submission["benign"])
