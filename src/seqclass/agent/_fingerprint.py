"""What tells the model of a saved session from others."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from seqclass._utils.model_files import content_digest
from seqclass.agent.agent import Agent


def fingerprint(agent: Agent) -> str:
    """A few letters that tell a fitted classifier from others, by what its sessions depend on."""
    parts = agent._live_case_parts
    if "fingerprint" not in parts:
        parts["fingerprint"] = _work_out(agent)
    return str(parts["fingerprint"])


def _work_out(agent: Agent) -> str:
    problem = agent.problem
    digest = hashlib.sha256()
    for part in (problem.prior, problem.prices, problem.decision_costs, agent.order, agent.known):
        digest.update(np.ascontiguousarray(part).tobytes())
    probability = agent.policy.initial_belief()[1]
    if len(probability) > 1:
        digest.update(probability.tobytes())
    horizon = min(agent.policy.n_stages, 16)
    likelihood = getattr(problem, "likelihoods", ())
    for stage in range(min(horizon, len(likelihood))):
        digest.update(np.ascontiguousarray(likelihood[stage]).tobytes())
    model = getattr(problem, "model", None)
    if model is not None:
        # its likelihoods are worked out when they are asked for: what it has learnt stands for them
        _digest(digest, model)
    return digest.hexdigest()[:16]


def acting_fingerprint(agent: Agent) -> str:
    """Digest of all that decides what is done with rows: bins, categories and the policy itself, but no seconds."""
    digest = hashlib.sha256(fingerprint(agent).encode())
    acts = ("policy", "coder", "encoder", "support", "decisions", "charge_missing", "handle_unknown", "differential")
    with suppress(TypeError):  # parts of other packages cannot be written down
        parts = [getattr(agent, name) for name in acts]
        digest.update(content_digest(parts, without=("seconds", "certify_seconds", "timings_")))
    return digest.hexdigest()[:32]


def _digest(digest: Any, value: Any) -> None:
    """Take in what a model has learnt, by its attributes, however they are nested."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(f"{value.dtype.str}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, (list, tuple, np.ndarray)):
        digest.update(f"[{len(value)}".encode())
        for item in value:
            _digest(digest, item)
    elif isinstance(value, dict):
        for name in sorted(value, key=str):
            digest.update(f"{name}:".encode())
            _digest(digest, value[name])
    elif isinstance(value, BaseEstimator):
        # not what merely speeds it up, nor timings, which differ from run to run
        kept = {k: v for k, v in value.__getstate__().items() if not k.startswith("_")}
        for name in ("timings_", "structure"):
            kept.pop(name, None)
        _digest(digest, kept)
    elif value is None or isinstance(value, (bool, int, float, complex, str, np.generic)):
        digest.update(repr(value.item() if isinstance(value, np.generic) else value).encode())
