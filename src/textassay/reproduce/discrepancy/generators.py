"""Generators of the paper on Distributional Discrepancy: trained on 20 to 100 % of a pool of texts, and measured.

There are two worlds, as in the paper. In the real world the pool are captions. In the synthetic world they are texts of
a GPT-2 that was trained on captions, so that the probability of every text is known. In both an LSTM and a GPT-2 are
trained on each share of the pool. Training comes first and measuring second, and both are kept in the folder of the
run, so that a stopped run continues.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from textassay.corpus.process_settings import single_threaded_products
from textassay.corpus.sample import Sample, stream
from textassay.corpus.tokenizers import get_tokenizer
from textassay.encoders.remembered import show_all
from textassay.errors import InputError, Setting
from textassay.inference.measure import measure
from textassay.inference.plan import Plan, Progress, Silent
from textassay.inference.result import Result
from textassay.metrics.learned.model_distances import TwoLogProbs, oracle_discrepancy
from textassay.metrics.registry import parse_requests
from textassay.metrics.views import Material, Settings
from textassay.models.base import Generator
from textassay.models.choose import train_model
from textassay.models.vocabulary import Vocabulary
from textassay.reproduce.result import Run
from textassay.reproduce.sweeps import TOKENIZER, draw_texts
from textassay.version import __version__
from textassay.work_files import work_file

World = Literal["real", "synthetic"]
Reads = Literal["all", "network", "vectors"]
SHARES = ("0.2", "0.4", "0.6", "0.8", "1.0")
KINDS = {"LSTM": "lstm", "GPT-2": "gpt2"}
TEMPERATURES = (0.8, 0.9, 1.0, 1.1, 1.2)
# Words with fewer occurrences than one per this many texts of the pool are one word, so that models of a fifth of the
# pool have seen all others.
_TEXTS_PER_WORD = 200
_FEWEST_POOL = 100
# The sizes that decide on what a generator writes.
_GENERATED = ("world", "pool", "texts", "swept", "models")


@dataclass(frozen=True)
class Experiment:
    """The sizes of the experiment.

    `pool` and `texts` are numbers of texts: of the pool, and of each sample that is measured. The network reads the
    first `network_texts` of them, and metrics on vectors the first `vector_texts`. `swept` is the number of texts at
    each temperature.
    """

    world: World
    pool: int
    texts: int
    network_texts: int
    vector_texts: int
    swept: int
    models: Mapping[str, str]
    network: str
    encoder: str
    seeds: int

    @classmethod
    def of(cls, run: Run, world: World) -> "Experiment":
        """The experiment of a scale, with as many texts in the pool as there are items."""
        if run.n_items < _FEWEST_POOL:
            raise InputError(Setting("n_items", run.n_items), f"; wanted {_FEWEST_POOL} or more texts in the pool")
        models = run.by_scale(
            {"lstm": "lstm:hidden=16:embedding=16:epochs=1", "gpt2": "gpt2:layers=1:hidden=16:heads=2:epochs=1"},
            {kind: f"{kind}:preset=laptop" for kind in KINDS.values()},
            {kind: f"{kind}:preset=cai2020" for kind in KINDS.values()},
        )
        texts = min(run.n_items, 10_000)
        return cls(
            world,
            run.n_items,
            texts,
            run.by_scale(40, min(texts, 2_000), texts),
            run.by_scale(texts, min(texts, 1_000), texts),
            run.by_scale(texts, min(texts, 500), texts),
            models,
            run.by_scale("laptop", "laptop", "paper"),
            run.by_scale("lsa", "lsa", "minilm"),
            run.by_scale(1, 1, 3),
        )

    @property
    def units(self) -> list["Unit"]:
        """Every generator of every seed."""
        return [Unit(kind, share, seed) for seed in range(self.seeds) for kind in KINDS for share in SHARES]


@dataclass(frozen=True)
class Unit:
    """One generator: its kind, the share of the pool that it is trained on, and its seed."""

    kind: str
    share: str
    seed: int

    def __str__(self) -> str:
        return f"{self.kind.lower()}-{self.share}-{self.seed}"


# The metrics: specification, whether higher values are better, and which texts they read. Self-BLEU counts as the paper
# has it: lower is better.
METRICS: Mapping[str, tuple[str, bool, Reads]] = {
    "DD": ("dd:classifier=cnn:size={network}", False, "network"),
    "DD, n-grams": ("dd:classifier=ngram", False, "all"),
    "DD, ridge": ("dd", False, "all"),
    "DD, embedding": ("dd:classifier=embedding", False, "vectors"),
    **{f"BLEU-{n}": (f"bleu:n={n}", True, "all") for n in range(2, 6)},
    **{f"Self-BLEU-{n}": (f"self_bleu:n={n}", False, "all") for n in range(2, 6)},
    "LM score": ("lm_score", False, "all"),
    "reverse LM score": ("reverse_lm_score", False, "all"),
    "FED": ("frechet:form=squared", False, "vectors"),
    "MS-Jaccard-4": ("ms_jaccard:n=4", True, "all"),
    "CND-2": ("cnd:n=2", False, "all"),
    "MAUVE": ("mauve", True, "vectors"),
}
# Of generators over temperatures.
SWEPT = ("BLEU-5", "Self-BLEU-5", "LM score", "reverse LM score", "FED")
_NORMAL = 1.96


@dataclass(frozen=True)
class Generated:
    """What was measured of one generator.

    `values` are estimates and standard errors of all metrics, `parts` those of the network, `swept` the values over
    temperatures, and `dd` the oracle dd with its error, where it is known.
    """

    values: Mapping[str, tuple[float, float]]
    parts: Mapping[str, float]
    swept: Mapping[str, tuple[float, ...]]
    dd: tuple[float, float] | None


# Everything that was measured, by generator.
Found = Mapping[Unit, Generated]


@dataclass(frozen=True, eq=False)
class _Source:
    """Where the texts of one seed come from: the pool, other texts of the same source, and the original if known."""

    pool: list[str]
    reference: list[str]
    vocabulary: Vocabulary
    original: Generator | None


@dataclass(frozen=True, eq=False)
class Trainer:
    """Trains generators and writes their texts; `folder` keeps the states of a training that is stopped."""

    experiment: Experiment
    files: tuple[Path, ...]
    seed: int
    folder: Path | None

    def own_seed(self, seed: int) -> int:
        """The seed of all random numbers of one of the seeds."""
        return int(stream(self.seed, "generators", seed).integers(2**31))

    def source(self, seed: int) -> _Source:
        """The texts of a seed; the last ones are kept for its other generators."""
        return _source(self, seed)

    def make_source(self, seed: int) -> _Source:
        """Draw the texts of a seed, and in the synthetic world train the original that writes them."""
        sizes, own = self.experiment, self.own_seed(seed)
        (pool,), (real,) = (
            draw_texts([file], (size,), own).parts
            for file, size in zip(self.files, (sizes.pool, sizes.texts), strict=True)
        )
        fewest = max(sizes.pool // _TEXTS_PER_WORD, 2)
        counts = Counter(word for text in pool for word in text.split())
        known = {word for word, count in counts.items() if count >= fewest}
        pool, real = (with_unknown(texts, known) for texts in (pool, real))
        vocabulary = Vocabulary.learn(pool, tokenizer=TOKENIZER)
        if sizes.world == "real":
            return _Source(pool, real, vocabulary, None)
        original = self.trained("gpt2", pool, vocabulary, own, f"original-{seed}")
        written = [
            original.sample(n, rng=stream(own, "original", part))
            for part, n in (("pool", sizes.pool), ("reference", sizes.texts))
        ]
        return _Source(written[0], written[1], vocabulary, original)

    def trained(self, kind: str, texts: Sequence[str], vocabulary: Vocabulary, seed: int, name: str) -> Generator:
        """A generator that was trained on texts; its state is in a file of this name."""
        spec = f"{self.experiment.models[kind]}:tokenizer={TOKENIZER}"
        return train_model(spec, texts, vocabulary=vocabulary, seed=seed, checkpoint=self._state(name))

    def _state(self, name: str) -> Path | None:
        return None if self.folder is None else self.folder / f"{self.experiment.world}-{name}.safetensors"

    def forget(self, unit: Unit) -> None:
        """Remove the state of a generator whose texts are kept."""
        if state := self._state(str(unit)):
            state.unlink(missing_ok=True)

    def written(self, unit: Unit) -> dict[str, Any]:
        """The texts of a generator at temperature 1 and over temperatures, and its oracle dd with the error of it."""
        sizes, own = self.experiment, self.own_seed(unit.seed)
        source = self.source(unit.seed)
        part = source.pool[: round(float(unit.share) * len(source.pool))]
        model = self.trained(KINDS[unit.kind], part, source.vocabulary, own, str(unit))
        texts = model.sample(sizes.texts, rng=stream(own, "sample", str(unit)))
        swept = {
            repr(t): texts[: sizes.swept]
            if t == 1
            else model.sample(sizes.swept, temperature=t, rng=stream(own, "sample", str(unit), repr(t)))
            for t in TEMPERATURES
        }
        return {"texts": texts, "swept": swept, "dd": self._oracle_dd(source.original, model, unit)}

    def measured(self, written: Mapping[str, Any], real: Sequence[str]) -> dict[str, Any]:
        """The metrics of what a generator wrote, with standard errors, and without them over temperatures."""
        sizes = self.experiment
        counts = {"all": sizes.texts, "network": sizes.network_texts, "vectors": sizes.vector_texts}
        found: dict[str, Result] = {}
        for reads, n in counts.items():
            specs = {name: spec.format(network=sizes.network) for name, (spec, _, r) in METRICS.items() if r == reads}
            found |= self._results(specs, written["texts"][:n], real[:n], with_intervals=True)
        specs = {name: METRICS[name][0] for name in SWEPT}
        swept = [
            self._results(specs, texts, real[: sizes.vector_texts], with_intervals=False)
            for texts in written["swept"].values()
        ]
        return {
            "values": {name: [found[name].estimate, _error(found[name])] for name in METRICS},
            "parts": dict(found["DD"].parts),
            "swept": {name: [results[name].estimate for results in swept] for name in SWEPT},
            "dd": written["dd"],
        }

    def _results(
        self, specs: Mapping[str, str], made: Sequence[str], real: Sequence[str], *, with_intervals: bool
    ) -> dict[str, Result]:
        candidate, reference = Sample.of(made, name="made"), Sample.of(real, name="real")
        seen = show_all(
            self.experiment.encoder, reference=reference, candidates={"made": candidate}, used=(reference, candidate)
        )
        settings = Settings(get_tokenizer(TOKENIZER), seen)
        roles = {"candidate": Material(candidate, settings), "reference": Material(reference, settings)}
        plan = Plan(n_resamples=Plan.n_resamples if with_intervals else 0, seed=self.seed)
        with single_threaded_products():
            results = measure(parse_requests(list(specs.values())), roles, plan=plan, test=False).results
        return dict(zip(specs, results, strict=True))

    def _oracle_dd(self, original: Generator | None, model: Generator, unit: Unit) -> list[float] | None:
        """The oracle dd on as many texts of each model as the pool has; they cost less than a classifier."""
        if original is None:
            return None
        n, own = self.experiment.pool, self.own_seed(unit.seed)
        real = original.sample(n, rng=stream(own, "original", "dd"))
        made = model.sample(n, rng=stream(own, "dd", str(unit)))
        of_real, of_made = (
            TwoLogProbs(original.log_prob(texts).log_probs, model.log_prob(texts).log_probs) for texts in (real, made)
        )
        found = oracle_discrepancy(of_real, of_made)
        return [found.estimate, found.error]


def _error(result: Result) -> float:
    """The standard error that the interval of a result stands for; 0 if it has none."""
    return 0.0 if result.interval is None else (result.interval.high - result.interval.low) / (2 * _NORMAL)


def _work_path(run: Run, experiment: Experiment, what: str) -> Path | None:
    return None if run.work is None else run.work / f"{experiment.world}-{what}.work"


def _check_written(value: Any) -> None:
    for texts in (value["texts"], *value.get("swept", {}).values()):
        if not all(isinstance(text, str) for text in texts):
            raise ValueError


def _check_measured(value: Any) -> None:
    if set(value["values"]) != set(METRICS) or set(value["swept"]) != set(SWEPT):
        raise ValueError
    _read(value)


def _read(value: Mapping[str, Any]) -> Generated:
    values = {name: (float(estimate), float(error)) for name, (estimate, error) in value["values"].items()}
    swept = {name: tuple(map(float, estimates)) for name, estimates in value["swept"].items()}
    return Generated(values, value["parts"], swept, None if value["dd"] is None else (value["dd"][0], value["dd"][1]))


@lru_cache(maxsize=1)
def _source(trainer: Trainer, seed: int) -> _Source:
    return trainer.make_source(seed)


def with_unknown(texts: Sequence[str], known: set[str]) -> list[str]:
    """The texts with all other words replaced by `<unk>`."""
    return [" ".join(word if word in known else "<unk>" for word in text.split()) for text in texts]


@dataclass(frozen=True)
class _Job:
    """What decides on the measured values of a world; who is told of the progress does not."""

    world: World
    files: tuple[Path, ...]
    run: Run
    progress: Progress = field(compare=False)


def measured_generators(world: World, files: Sequence[Path], run: Run) -> tuple[Experiment, Found]:
    """Train, sample and measure all generators of a world; several tables are about the same ones, which are kept."""
    return _measured(_Job(world, tuple(files), replace(run, name="dd", progress=_SILENT), run.progress))


_SILENT = Silent()


@lru_cache(maxsize=2)
def _measured(job: _Job) -> tuple[Experiment, Found]:
    """Generators first, then their metrics, both from the work files of the run as far as they are there."""
    run, experiment = job.run, Experiment.of(job.run, job.world)
    trainer = Trainer(experiment, job.files, run.seed, run.work)
    own = {name: value for name, value in asdict(experiment).items() if name in _GENERATED}
    own |= {"seed": run.seed, "version": __version__}
    job.progress.start("generators", 2 * len(experiment.units))
    with work_file(_work_path(run, experiment, "generators"), "reproduce", own, check=_check_written) as work:
        for unit in experiment.units:
            reference = f"reference-{unit.seed}"
            if reference not in work:
                work.add(reference, {"texts": trainer.source(unit.seed).reference})
            if str(unit) not in work:
                work.add(str(unit), trainer.written(unit))
            trainer.forget(unit)
            job.progress.step(1)
        written = {key: work[key] for unit in experiment.units for key in (str(unit), f"reference-{unit.seed}")}
    own |= {name: value for name, value in asdict(experiment).items() if name != "seeds"}
    found: dict[Unit, Generated] = {}
    with work_file(_work_path(run, experiment, "metrics"), "reproduce", own, check=_check_measured) as work:
        for unit in experiment.units:
            if str(unit) not in work:
                work.add(str(unit), trainer.measured(written[str(unit)], written[f"reference-{unit.seed}"]["texts"]))
            found[unit] = _read(work[str(unit)])
            job.progress.step(1)
    return experiment, found
