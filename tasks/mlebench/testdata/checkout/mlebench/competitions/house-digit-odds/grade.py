import numpy as np
import pandas as pd
from sklearn.metrics import log_loss

from mlebench.competitions.utils import aligned
from mlebench.grade_helpers import InvalidSubmissionError

from .digits import DIGITS


def grade(submission: pd.DataFrame, answers: pd.DataFrame) -> float:
    submission, answers = aligned(submission, answers, "id", DIGITS)
    odds = submission[DIGITS]
    if not ((odds >= 0) & (odds <= 1)).all().all():
        raise InvalidSubmissionError("Probabilities must be between 0 and 1")
    if not np.isclose(odds.sum(axis=1), 1, atol=1e-6).all():
        raise InvalidSubmissionError("Probabilities must sum to 1")
    return log_loss(answers[DIGITS].to_numpy(), odds.to_numpy())
