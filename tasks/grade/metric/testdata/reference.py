"""Answers each case on stdin with scikit-learn's or SciPy's own result.

In: a JSON array of {"metric", "truth", "guess", "weights", …}; null stands for
NaN. Out: a JSON array of numbers, null where there was an error or no finite
number.
"""
import json
import math
import sys
import warnings

import numpy as np
from scipy.stats import pearsonr, spearmanr
from sklearn import metrics as m

warnings.simplefilter("ignore")


def array(values):
    if values and isinstance(values[0], list):
        return np.array([array(v) for v in values])
    if any(isinstance(v, str) for v in values):
        return np.array(values, dtype=object)
    if all(isinstance(v, int) for v in values):
        return np.array(values, dtype=int)
    return np.array([math.nan if v is None else v for v in values], dtype=float)


def indicator(rows, classes):
    out = np.zeros((len(rows), classes), dtype=int)
    for i, row in enumerate(rows):
        out[i, row] = 1
    return out


def map_at_k(truth, guess, k):
    scores = []
    for right, answers in zip(truth, guess):
        right, seen, hits, score = set(right), set(), 0, 0.0
        for place, answer in enumerate(answers[:k], 1):
            if answer in right and answer not in seen:
                hits += 1
                score += hits / place
            seen.add(answer)
        scores.append(score / min(len(right), k) if right else 0.0)
    return np.mean(scores)


def root(mse, **kw):
    return mse(**kw) ** 0.5


def log_mae(truth, guess, group):
    with np.errstate(divide="ignore"):
        return np.mean([np.log(m.mean_absolute_error(truth[group == g], guess[group == g])) for g in np.unique(group)])


def compute(c):
    name, kw = c["metric"], {}
    if c.get("weights") is not None:
        kw["sample_weight"] = np.array(c["weights"], dtype=float)
    if name in ("f1_labels", "jaccard_labels"):
        f = m.f1_score if name == "f1_labels" else m.jaccard_score
        t, g = indicator(c["truth"], c["classes"]), indicator(c["guess"], c["classes"])
        return f(t, g, average=c["average"], **kw)
    if name == "map":
        return map_at_k(c["truth"], c["guess"], c["k"])
    t, g = array(c["truth"]), array(c["guess"])
    if name in ("auroc", "auroc_columns"):
        return m.roc_auc_score(t.T, g.T, average="macro", **kw)
    if name in ("logloss", "logloss_columns"):
        return m.log_loss(t.T, g.T, **kw)
    if name in ("mcrmse", "mean_rmsle"):
        if name == "mcrmse":
            return np.mean([root(m.mean_squared_error, y_true=a, y_pred=b, **kw) for a, b in zip(t, g)])
        return np.mean([root(m.mean_squared_log_error, y_true=a, y_pred=b, **kw) for a, b in zip(t, g)])
    if name == "mean_spearman":
        return np.mean([spearmanr(a, b).correlation for a, b in zip(t, g)])
    return {
        "accuracy": lambda: m.accuracy_score(t, g, **kw),
        "error": lambda: 1 - m.accuracy_score(t, g, **kw),
        "qwk": lambda: m.cohen_kappa_score(t, g, weights="quadratic", **kw),
        "mcc": lambda: m.matthews_corrcoef(t, g, **kw),
        "f1": lambda: m.f1_score(t, g, average=c["average"], **kw),
        "mae": lambda: m.mean_absolute_error(t, g, **kw),
        "rmse": lambda: root(m.mean_squared_error, y_true=t, y_pred=g, **kw),
        "rmsle": lambda: root(m.mean_squared_log_error, y_true=t, y_pred=g, **kw),
        "log_mae": lambda: log_mae(t, g, array(c["group"])),
        "pearson": lambda: pearsonr(t, g)[0],
        "spearman": lambda: spearmanr(t, g).correlation,
        "lrap": lambda: m.label_ranking_average_precision_score(t, g, **kw),
    }[name]()


def answer(c):
    try:
        x = float(compute(c))
    except (ValueError, ZeroDivisionError, TypeError):
        return None
    return x if math.isfinite(x) else None


json.dump([answer(c) for c in json.load(sys.stdin)], sys.stdout)
