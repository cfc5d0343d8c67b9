"""Score well-known models on exactly the split that the graders use.

The scores become the references, and through them the medal thresholds, in
each task's task.toml; NOTES.md says how. Every model sees train.csv only and
is scored once on the held-out rows. Models that draw random numbers are
scored for five seeds and the median is kept.

    python3 measure.py          # needs scikit-learn; takes under a minute
"""

import csv
import platform
from pathlib import Path
from statistics import median

import numpy as np
import sklearn
from sklearn.compose import TransformedTargetRegressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (GradientBoostingRegressor, HistGradientBoostingClassifier,
                              RandomForestClassifier, RandomForestRegressor, VotingRegressor)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LassoCV, LinearRegression, LogisticRegression, RidgeCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

BUILTIN = Path(__file__).resolve().parent.parent
SEEDS = range(5)


def read(task):
    """Return train features, train targets, held-out features, held-out targets."""
    def table(path):
        with open(BUILTIN / task / path, encoding="utf-8", newline="") as f:
            return np.array([[float(v) for v in row] for row in list(csv.reader(f))[1:]])

    train, test = table("environment/data/train.csv"), table("environment/data/test.csv")
    answers = dict(table("tests/answers.csv"))
    return train[:, 1:-1], train[:, -1], test[:, 1:], np.array([answers[i] for i in test[:, 0]])


def scaled(model):
    return make_pipeline(StandardScaler(), model)


class ShiftedSVC:
    """A support vector machine that also learns each image moved by one pixel, four ways."""

    def fit(self, x, y):
        pad = np.pad(x.reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1)))
        moved = [pad[:, 1 + dy:9 + dy, 1 + dx:9 + dx].reshape(len(x), 64)
                 for dy, dx in [(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0)]]
        self.model = SVC(C=10, gamma=0.001).fit(np.vstack(moved), np.tile(y, len(moved)))
        return self

    def predict(self, x):
        return self.model.predict(x)


class RidgeClassifier:
    """Kernel ridge regression to +1 and -1, one output per class."""

    def fit(self, x, y):
        self.classes = np.unique(y)
        targets = np.where(y[:, None] == self.classes, 1.0, -1.0)
        self.model = KernelRidge(alpha=0.01, kernel="rbf", gamma=1 / 25**2).fit(x, targets)
        return self

    def predict(self, x):
        return self.classes[self.model.predict(x).argmax(axis=1)]


def kernel_ridge(alpha, gamma):
    return TransformedTargetRegressor(scaled(KernelRidge(alpha=alpha, kernel="rbf", gamma=gamma)),
                                      transformer=StandardScaler())


# For each task: models as they come, then models that took some work.
DIGITS = {
    "most frequent digit": lambda seed: DummyClassifier(),
    "Gaussian naive Bayes": lambda seed: GaussianNB(),
    "decision tree": lambda seed: DecisionTreeClassifier(random_state=seed),
    "nearest centroid": lambda seed: NearestCentroid(),
    "linear discriminant analysis": lambda seed: LinearDiscriminantAnalysis(),
    "multilayer perceptron (64 hidden units)": lambda seed: MLPClassifier((64,), max_iter=1000, random_state=seed),
    "gradient boosting (histogram, 100 rounds)": lambda seed: HistGradientBoostingClassifier(random_state=seed),
    "logistic regression (C=1)": lambda seed: scaled(LogisticRegression(max_iter=5000)),
    "random forest (500 trees)": lambda seed: RandomForestClassifier(500, random_state=seed),
    "k-nearest neighbours (k=3)": lambda seed: KNeighborsClassifier(3),
    "k-nearest neighbours (k=1)": lambda seed: KNeighborsClassifier(1),
    "support vector machine (RBF, C=10, gamma=0.001)": lambda seed: SVC(C=10, gamma=0.001),
}, {
    "kernel ridge (RBF, width 25, penalty 0.01)": lambda seed: RidgeClassifier(),
    "support vector machine, images also shifted by a pixel": lambda seed: ShiftedSVC(),
}

DIABETES = {
    "mean of the training targets": lambda seed: DummyRegressor(),
    "decision tree (5 per leaf)": lambda seed: DecisionTreeRegressor(min_samples_leaf=5, random_state=seed),
    "k-nearest neighbours (k=5)": lambda seed: scaled(KNeighborsRegressor(5)),
    "k-nearest neighbours (k=15)": lambda seed: scaled(KNeighborsRegressor(15)),
    "random forest (500 trees, 5 per leaf)": lambda seed: RandomForestRegressor(
        500, min_samples_leaf=5, random_state=seed),
    "gradient boosting (100 rounds, depth 2, rate 0.05)": lambda seed: GradientBoostingRegressor(
        n_estimators=100, learning_rate=0.05, max_depth=2, subsample=0.5, random_state=seed),
    "support vector regression (RBF, C=50, gamma=0.01)": lambda seed: scaled(SVR(C=50, gamma=0.01)),
    "Gaussian process (RBF + linear + noise)": lambda seed: scaled(GaussianProcessRegressor(
        ConstantKernel() * RBF(3.0) + ConstantKernel() * DotProduct() + WhiteKernel(),
        normalize_y=True, n_restarts_optimizer=2, random_state=seed)),
    "lasso (alpha by 10-fold cross-validation)": lambda seed: scaled(LassoCV(cv=10)),
    "ridge (alpha by leave-one-out)": lambda seed: scaled(RidgeCV(np.logspace(-1, 3, 41))),
    "linear regression (least squares)": lambda seed: LinearRegression(),
}, {
    "kernel ridge (RBF), mean of three smoothness settings": lambda seed: VotingRegressor(
        [("rough", kernel_ridge(0.1, 0.01)), ("middle", kernel_ridge(0.3, 0.01)), ("smooth", kernel_ridge(1, 0.02))]),
}


def accuracy(predicted, truth):
    return float(np.mean(predicted == truth))


def rmse(predicted, truth):
    return float(np.sqrt(np.mean((predicted - truth) ** 2)))


def measure(task, models, score):
    x, y, x_test, y_test = read(task)
    print(f"\n{task}: {len(y)} rows to learn from, {len(y_test)} held out")
    for heading, group in zip(("as they come", "with some work"), models):
        print(f" {heading}:")
        kept = []
        for name, make in group.items():
            scores = [score(make(seed).fit(x, y).predict(x_test), y_test) for seed in SEEDS]
            kept.append(median(scores))
            spread = f"  ({min(scores):.4f} to {max(scores):.4f} over seeds)" if min(scores) < max(scores) else ""
            print(f"  {kept[-1]:8.4f}  {name}{spread}", flush=True)
        print(f"  {median(kept):8.4f}  (their median)")


if __name__ == "__main__":
    print(f"Python {platform.python_version()}, scikit-learn {sklearn.__version__}, numpy {np.__version__}")
    measure("digits", DIGITS, accuracy)
    measure("diabetes", DIABETES, rmse)
