"""Classifiers of scikit-learn, which takes a while to import: when a test first trains one, not for its collection."""

from __future__ import annotations


def nearest():
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(1)


def logistic():
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression()


def naive_bayes():
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB()
