"""Does adversarial training improve on its start? The oracle NLL of SeqGAN, MaliGAN or RankGAN along its rounds.

`python benchmarks/models/adversarial.py` trains an LSTM on 10,000 texts of the SeqGAN oracle by maximum likelihood,
then against a discriminator, and prints the mean negative log-probability per word that the oracle gives to texts of
the generator (less is better), with its standard error, and the difference from the start. Texts are sampled with the
same random numbers every time, and differences are paired by them. `--smoke` takes seconds and has a tiny random
oracle.
"""

import argparse
import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from textassay.models.neural.adversarial import PRESETS, REWARDS, Round, play, train
from textassay.models.neural.network import NeuralModel
from textassay.models.neural.round_judges import oracle_likelihood
from textassay.models.oracle import Oracle


def losses(oracle: Oracle, model: NeuralModel, n: int) -> np.ndarray:
    """The negative log-probability per word of texts of the model; NaN for a text that the oracle cannot generate."""
    scores = oracle.log_prob(model.sample(n, rng=np.random.default_rng(2)))
    return np.where(np.isfinite(scores.log_probs), -scores.log_probs / oracle.length, np.nan)


def shown(label: str, now: np.ndarray, start: np.ndarray, note: str = "") -> None:
    both = ~np.isnan(now) & ~np.isnan(start)
    change, error = (now - start)[both].mean(), (now - start)[both].std() / both.sum() ** 0.5
    own = np.nanstd(now) / (~np.isnan(now)).sum() ** 0.5
    line = f"{label:>9}  {np.nanmean(now):7.4f} +- {own:.4f}  change {change:+.4f} +- {error:.4f}"
    print(f"{line}  impossible {int(np.isnan(now).sum())}  {note}", flush=True)


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--smoke", action="store_true", help="a tiny oracle, seconds")
    ask.add_argument("--reward", choices=REWARDS, default="seqgan")
    ask.add_argument("--rounds", type=int, default=40)
    ask.add_argument("--epochs", type=int, default=3, help="of maximum likelihood")
    ask.add_argument("--rate", type=float, default=1e-2, help="learning rate of the generator")
    ask.add_argument("--rollouts", type=int, default=2)
    ask.add_argument("--warm-up", type=int, default=200)
    ask.add_argument("--texts", type=int, default=512, help="texts per point of the curve")
    asked = ask.parse_args()
    folder = Path(os.environ.get("TEXTASSAY_DATA", "../shared/data")) / "oracle"
    rng = np.random.default_rng(0)
    oracle = Oracle.random(vocabulary=20, hidden=4, length=4, rng=rng) if asked.smoke else Oracle.read(folder)
    rounds, epochs, every = (2, 1, 1) if asked.smoke else (asked.rounds, asked.epochs, 5)
    texts = oracle.sample(300 if asked.smoke else 10_000, rng=np.random.default_rng(1))
    began = time.perf_counter()
    model = train(texts, preset="laptop", rounds=0, epochs=epochs, tokenizer="whitespace")
    start = losses(oracle, model, asked.texts)
    print(f"{asked.reward}: {epochs} epochs of maximum likelihood in {time.perf_counter() - began:.0f} s")
    shown("start", start, start)

    def watch(past: Round, now: NeuralModel) -> None:
        if past.number % every == 0:
            note = f"reward {past.reward:.3f}, accuracy {past.accuracy:.2f}, {time.perf_counter() - began:.0f} s"
            shown(f"round {past.number}", losses(oracle, now, asked.texts), start, note)

    warm_up = 2 if asked.smoke else asked.warm_up
    settings = {"rollouts": asked.rollouts, "warm_up": warm_up, "discriminator_steps": 3}
    game = replace(PRESETS["laptop"].game, reward=asked.reward, rounds=rounds, learning_rate=asked.rate, **settings)
    play(model, texts, game, judge=oracle_likelihood(oracle, 0), watch=watch)
    shown("best", losses(oracle, model, asked.texts), start)


if __name__ == "__main__":
    main()
