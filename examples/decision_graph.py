"""A stopping rule on one page: as a decision graph for Graphviz, in the words of the data.

python examples/decision_graph.py
python examples/decision_graph.py --dot graph.dot           then: dot -Tsvg graph.dot -o graph.svg
python examples/decision_graph.py --picture graph.png       (needs the program dot, of Graphviz)
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess

import numpy as np
from sklearn.datasets import load_breast_cancer

import seqclass
from seqclass.analysis import decision_graph


def show(text: str) -> None:
    """Print the first question of a graph and what follows each answer."""
    nodes = dict(re.findall(r'^  (n\d+) \[label="(.*?)\\nreached', text, re.MULTILINE))
    print(f"First {nodes['n0']}:")
    for child, label in re.findall(r'^  n0 -> (n\d+) \[label=" (.*?) "', text, re.MULTILINE):
        print(f"  {label:24} {nodes[child]}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the stopping rule for breast tumours as a graph.")
    parser.add_argument("--dot", metavar="FILE", help="write the graph into FILE, for Graphviz")
    parser.add_argument("--picture", metavar="FILE", help="let Graphviz draw it into FILE, a PNG")
    arguments = parser.parse_args()

    data = load_breast_cancer(as_frame=True)
    y = np.asarray(data.target_names)[data.target]
    clf = seqclass.etana(feature_costs=0.03).fit(data.data, y)

    # a larger graph shows more of what can happen; what it leaves out is said in it
    print("questions   rarest way   nodes   patients decided within the graph")
    for depth, rarest in [(1, 0.05), (2, 0.05), (3, 0.02), (4, 0.01), (6, 0.001)]:
        text = decision_graph(clf, max_depth=depth, min_probability=rarest, max_nodes=1000)
        decided = sum(float(share) for share in re.findall(r'kind=decide, reach="(.*?)"', text))
        print(f"{depth:9d}{rarest:13.1%}{text.count('kind='):8d}{decided:12.1%}")

    text = decision_graph(clf, max_depth=4, min_probability=0.01)
    print()
    show(text)

    # what to do where a measurement cannot be had
    missing = decision_graph(clf, max_depth=2, missing=0.1)
    print("\nIf one measurement in ten is missing:")
    show(missing)

    if arguments.dot:
        with open(arguments.dot, "w", encoding="utf-8") as file:
            file.write(text)
        print(f"\nWritten to {arguments.dot}.")
    if arguments.picture:
        dot = shutil.which("dot")
        if dot is None:
            raise SystemExit("Graphviz is not installed: there is no program dot. --dot writes a file for it.")
        command = [dot, "-Tpng", "-Gdpi=100", "-o", arguments.picture]
        subprocess.run(command, input=text.encode("utf-8"), check=True)
        print(f"\nPicture written to {arguments.picture}.")


if __name__ == "__main__":
    main()
