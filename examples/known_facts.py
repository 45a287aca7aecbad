"""A case in which something is known already, something has to be asked anyway, and the rest is asked if it pays.

python examples/known_facts.py
"""

from __future__ import annotations

from sklearn.datasets import load_breast_cancer

from seqclass import etana


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    clf = etana().fit(X.iloc[100:], y[100:])
    patient = X.iloc[9]

    # what is known costs nothing and is used; mean texture is asked in any case
    case = clf.session(known={"mean radius": patient["mean radius"], "mean area": None}, first=["mean texture"])
    print(f"known: mean radius; P(malignant) = {case.posterior[0]:.3f} before any question")
    while (question := case.next_feature) is not None:
        best = ", ".join(f"{q.name} {q.saving_alone:+.3f}" for q in case.suggestions(3))
        print(f"ask {question.name} (price {question.price:.2f}); the best three, each alone: {best}")
        case.observe(question.name, patient[question.name])
        print(f"  P(malignant) = {case.posterior[0]:.3f}")
    # and a result that comes in though nobody asked for it
    case.observe("worst symmetry", patient["worst symmetry"])
    print(f"with worst symmetry as well: P(malignant) = {case.posterior[0]:.3f}")
    print(f"decision {case.decision} (truth {y[9]}), {case.n_features} features acquired for {case.paid:.2f}")


if __name__ == "__main__":
    main()
