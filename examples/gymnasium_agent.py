"""A reinforcement learner in the Gymnasium environment of a problem, beside the exact policy.

python -m pip install 'seqclass[gym]' sb3-contrib
python examples/gymnasium_agent.py [--steps 100000]
"""

from __future__ import annotations

import argparse

import numpy as np
from sb3_contrib import MaskablePPO
from sklearn.datasets import load_breast_cancer
from stable_baselines3.common.env_util import make_vec_env

from seqclass import SequentialClassifier
from seqclass.discretize import Discretizer
from seqclass.gym import AcquisitionEnv, AcquisitionVectorEnv
from seqclass.pomdp import ExactFreeOrder, FirstK, Lookahead, certify, evaluate

COLUMNS = ["worst area", "worst smoothness", "mean texture", "worst concavity", "mean symmetry", "worst symmetry"]


def mean_cost(envs: AcquisitionVectorEnv, model: MaskablePPO, seed: int) -> tuple[float, float, float]:
    """Mean cost of what the learner thinks best, its standard error, and how much it asks: one episode each."""
    observation, info = envs.reset(seed=seed)
    cost, asked, over = np.zeros(envs.num_envs), np.zeros(envs.num_envs), np.zeros(envs.num_envs, dtype=bool)
    while not over.all():
        action, _ = model.predict(observation, action_masks=info["action_mask"], deterministic=True)
        observation, reward, ended, _, info = envs.step(action)
        cost -= np.where(over, 0.0, reward)
        asked += ~over & (action > 0)
        over |= ended
    return float(cost.mean()), float(cost.std() / len(cost) ** 0.5), float(asked.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000)
    steps = parser.parse_args().steps

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    clf = SequentialClassifier(
        feature_costs=0.02, discretizer=Discretizer(4), order="adaptive", solver=ExactFreeOrder()
    ).fit(X[COLUMNS], y)
    problem = clf.problem_
    certificate = certify(problem, clf.policy_)
    print(problem)
    print(f"exact: cost {certificate.upper:.4f}, no policy costs less than {certificate.lower:.4f}")
    for policy in (Lookahead().solve(problem), FirstK(0).solve(problem)):
        expected = evaluate(problem, policy)
        print(f"{type(policy).__name__}: cost {expected.cost:.4f}, {expected.n_features:.2f} questions")

    # what the decision is expected to cost has the same mean as what it costs, and varies less
    env = make_vec_env(lambda: AcquisitionEnv(clf, reward="expected"), n_envs=16, seed=0)
    model = MaskablePPO("MultiInputPolicy", env, n_steps=256, batch_size=512, gamma=1.0, ent_coef=0.001, seed=0)
    envs = AcquisitionVectorEnv(clf, 20_000, reward="expected")
    for _ in range(4):
        model.learn(steps // 4, reset_num_timesteps=False)
        cost, error, questions = mean_cost(envs, model, seed=1)
        print(
            f"MaskablePPO after {model.num_timesteps:,} steps: cost {cost:.4f} (standard error {error:.4f}), "
            f"{questions:.2f} questions"
        )


if __name__ == "__main__":
    main()
