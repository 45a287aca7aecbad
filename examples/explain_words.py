"""Which words a document was classified by, why they were asked for, and what each of them told.

python examples/explain_words.py
python examples/explain_words.py --html words.html --picture words.png    (the picture needs matplotlib)
With SEQCLASS_DATA (or --data) naming a folder that holds usenet1.npz, posts of a news group are explained as well.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split

import seqclass

PRAISE = ["great", "wonderful", "moving", "honest", "funny", "gripping", "clever", "fresh"]
BLAME = ["bad", "boring", "silly", "flat", "clumsy", "hollow", "loud", "stale"]
THINGS = ["plot", "cast", "script", "music", "ending", "pace"]
FRAMES = ["A {} {}", "The {1} is {0}", "Such a {} {}", "I found the {1} rather {0}"]


def reviews(n: int, rng: np.random.Generator) -> tuple[list[str], np.ndarray]:
    """Short film reviews: two to five remarks, one in five of which is of the other kind."""
    labels = rng.choice(["negative", "positive"], n)
    texts = []
    for label in labels:
        own, other = (PRAISE, BLAME) if label == "positive" else (BLAME, PRAISE)
        count = rng.integers(2, 6)
        remarks = [rng.choice(own if rng.random() < 0.8 else other) for _ in range(count)]
        things = rng.choice(THINGS, count, replace=False)
        # what is a waste is a waste of time: two words that say the same
        waste = ["A waste of time"] if label == "negative" and rng.random() < 0.5 else []
        sentences = [rng.choice(FRAMES).format(word, thing) for word, thing in zip(remarks, things)]
        texts.append(". ".join(sentences + waste) + " <3" * int(label == "positive") * int(rng.random() < 0.1))
    return texts, labels


def explain_reviews(html: Path | None, picture: Path | None) -> None:
    texts, labels = reviews(420, np.random.default_rng(0))
    vectorizer = CountVectorizer(binary=True, stop_words="english")
    X = vectorizer.fit_transform(texts).astype(float)
    words = vectorizer.get_feature_names_out()
    # the last twenty have not been seen in training
    clf = seqclass.ifc2f(feature_costs=0.005).fit(X[:-20], labels[:-20])
    record = clf.acquire(X[-20:])
    print(
        f"Reviews: accuracy {np.mean(record.decision == labels[-20:]):.2f}, {record.n_features.mean():.2f} words each"
    )
    asked = ", ".join(words[j] for j in clf.order_[:8])
    print(f"Words in the order they are asked for: {asked}, ...")

    explanations = clf.explain(X[-20:], feature_names=words)
    quick, slow = (int(i) for i in np.argsort(record.n_features, kind="stable")[[0, 12]])
    for i in (quick, slow):
        print(f"\n{explanations[i].highlight(texts[i - 20], style='markdown')}")
        print(f"-> {explanations[i].decision}, and it is {labels[i - 20]}")
    print(f"\nThe second one in full\n{explanations[slow]}")

    if html:
        marked = [e.highlight(text, style="html") for e, text in zip(explanations, texts[-20:])]
        html.write_text("<!doctype html><meta charset='utf-8'>" + "\n".join(marked), encoding="utf-8")
        print(f"\nAll twenty written to {html}.")
    if picture:
        from seqclass.plots import ExplanationDisplay

        ExplanationDisplay(explanations[slow]).plot().figure_.savefig(picture, dpi=150)
        print(f"Picture written to {picture}.")


def explain_posts(path: Path) -> None:
    """Posts of which only the words are known; the reader's interests change every 300, so one stretch is taken."""
    with np.load(path, allow_pickle=False) as file:
        X, y, words = file["X"][600:900], file["y"][600:900], file["feature_names"].astype(str)
    labels = np.where(y == 1, "interesting", "not interesting")
    X_train, X_test, y_train, y_test = train_test_split(X, labels, test_size=60, random_state=0, stratify=labels)
    clf = seqclass.ifc2f(feature_costs=0.002).fit(X_train, y_train)
    record = clf.acquire(X_test)
    print(f"\nPosts: accuracy {np.mean(record.decision == y_test):.2f}, {record.n_features.mean():.2f} words each")
    row = int(np.argmax((record.outcome > 0).sum(axis=1)))
    post = " ".join(words[X_test[row] > 0])
    print(clf.explain(X_test[row], feature_names=words)[0].highlight(post, style="markdown"))
    print(f"-> {record.decision[row]}, and it is {y_test[row]}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Explain the classification of short texts.")
    parser.add_argument("--html", metavar="FILE", type=Path, help="write twenty reviews with their words marked")
    parser.add_argument("--picture", metavar="FILE", type=Path, help="draw an explanation into FILE")
    parser.add_argument("--data", metavar="FOLDER", default=os.environ.get("SEQCLASS_DATA"), help="has usenet1.npz")
    arguments = parser.parse_args()

    explain_reviews(arguments.html, arguments.picture)
    if arguments.data and (posts := Path(arguments.data) / "usenet1.npz").is_file():
        explain_posts(posts)


if __name__ == "__main__":
    main()
