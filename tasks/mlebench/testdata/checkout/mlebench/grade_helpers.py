class InvalidSubmissionError(Exception):
    """The submission cannot be graded."""
