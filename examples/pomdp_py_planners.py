"""pomdp-py's planners on a classification problem: in its own loop, and as a solver here beside Perseus.

python examples/pomdp_py_planners.py
"""

from __future__ import annotations

import random

import numpy as np
import pomdp_py
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

import seqclass
from seqclass.pomdp import AcquisitionProblem, Perseus, PomdpPyPlanner, TableProblem, certify, to_pomdp_py


def in_its_own_loop(problem: AcquisitionProblem, seed: int) -> str:
    """Plan, act, observe and update, as pomdp-py's manual does."""
    models = to_pomdp_py(problem, random_state=seed)
    agent, env = models.agent, models.env
    random.seed(seed)
    planner = pomdp_py.POUCT(
        max_depth=models.horizon, num_sims=500, discount_factor=1.0, rollout_policy=models.policy_model
    )
    done = [f"true class {env.state.label}:"]
    while not env.state.is_end:
        action = planner.plan(agent)
        paid = -env.state_transition(action, execute=True)
        observation = env.provide_observation(models.observation_model, action)
        agent.update_history(action, observation)
        planner.update(agent, action, observation)
        belief = pomdp_py.update_histogram_belief(
            agent.belief, action, observation, models.observation_model, models.transition_model
        )
        agent.set_belief(belief)
        done.append(f"{action} ({paid:.2f})" + (f" -> {observation}" if action.decision is None else ""))
    return " ".join(done)


def main() -> None:
    X, y = load_wine(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    settings = {"feature_costs": 0.02, "n_bins": 4}
    solvers = {
        "Perseus": Perseus(max_stages=5),
        "POUCT": PomdpPyPlanner("POUCT", n_simulations=300, max_stages=5),
        "POMCP": PomdpPyPlanner("POMCP", n_simulations=300, max_stages=5),
    }
    for name, solver in solvers.items():
        clf = seqclass.etana(**settings, solver=solver).fit(X_train, y_train)
        record = clf.acquire(X_test)
        accuracy = np.mean(record.decision == y_test)
        print(f"{name:8} accuracy {accuracy:.3f}, {record.n_features.mean():.2f} features")

    # Any policy can be certified. Small problem: both ends are exact.
    problem = clf.problem_
    small = TableProblem(problem.prior, problem.likelihoods[:3], problem.prices[:3], n_outcomes=problem.n_outcomes[:3])
    certificate = certify(small, solvers["POUCT"].solve(small))
    print(f"POUCT with 3 features: cost {certificate.upper:.4f}, the optimum is {certificate.lower:.4f}")

    print("In pomdp-py's own loop:")
    for seed in range(3):
        print(" ", in_its_own_loop(small, seed))


if __name__ == "__main__":
    main()
