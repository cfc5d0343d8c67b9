from mlebench.grade_helpers import InvalidSubmissionError


def aligned(submission, answers, id_column, columns):
    """Checks a submission and returns both tables sorted by id."""
    for column in [id_column, *columns]:
        assert column in answers.columns, f"answers lack {column}"
        if column not in submission.columns:
            raise InvalidSubmissionError(f"Submission lacks the column {column}")
    if len(submission) != len(answers):
        raise InvalidSubmissionError(f"Submission has {len(submission)} rows, expected {len(answers)}")
    submission = submission.sort_values(id_column)
    answers = answers.sort_values(id_column)
    if (submission[id_column].values != answers[id_column].values).any():
        raise InvalidSubmissionError(f"Submission has other values of {id_column}")
    return submission, answers
