"""Networks asked about random evidence, beside pgmpy's variable elimination."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.testing import assert_allclose


def elimination(network):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.inference import VariableElimination

        engine = VariableElimination(network)

    def ask(node, evidence):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return engine.query([node], evidence=evidence, show_progress=False).values

    return ask


def random_evidence(model, n, seed):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, model.n_features_in_)) * model.n_outcomes_).astype(np.int8)
    return np.where(rng.random(X.shape) < rng.random((n, 1)), X, -1).astype(np.int8)


def check_inference(model, network, names, states, class_node, seed, n=6):
    """Every posterior and likelihood of some evidence, beside VariableElimination's."""
    ask = elimination(network)
    evidence = random_evidence(model, n, seed)
    at = [network.get_cpds(class_node).state_names[class_node].index(label) for label in model.classes_.tolist()]
    likelihoods = [model.likelihood(j, evidence) for j in range(len(names))]
    posterior = model.posterior(evidence)
    for i, row in enumerate(evidence):
        known = {names[j]: states[j][row[j]] for j in np.flatnonzero(row >= 0)}
        assert_allclose(posterior[i], ask(class_node, known)[at], atol=1e-10)
        for j, name in enumerate(names):
            others = {k: v for k, v in known.items() if k != name}
            for c, label in enumerate(model.classes_.tolist()):
                expected = ask(name, {**others, class_node: label})
                assert_allclose(likelihoods[j][i, :, c], expected, atol=1e-10)
