"""Tables 1, 3 and 4 and Figures 3 and 7 of the triangle-rank paper: exact p-values of the captions of single images.

The captions of a model and the references of an image are exchanged in all ways; the p-value of a metric is the share
of the ways in which it is at least as far off as observed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from textassay.corpus.item_set import Item, TextTable, read_items
from textassay.corpus.sample import Sample, stream
from textassay.corpus.tokenizers import get_tokenizer
from textassay.distances.base import Surroundings, get_distance
from textassay.encoders.base import get_encoder
from textassay.errors import InputError, Setting
from textassay.inference.item_figures import measure_item, ways
from textassay.inference.p_values import mean_log_p, mean_p
from textassay.inference.result import signature
from textassay.metrics.items.item_pool import Pools
from textassay.metrics.registry import parse_requests
from textassay.reproduce.result import Claim, CurveAt, Line, Numbers, Panel, Reproduction, Row, Run

_PAPER = "chan2022"
_FEWEST, _REFERENCES = 10, 5

# Table 1: p-values with one candidate on MS-COCO.
TABLE_1 = {
    "CLIPCap": {"BERT": 0.5581, "CIDEr-D": 0.8223, "BLEU-4": 0.8788, "METEOR": 0.7483, "ROUGE-L": 0.7985},
    "VLP": {"BERT": 0.5925, "CIDEr-D": 0.7424, "BLEU-4": 0.8593, "METEOR": 0.6644, "ROUGE-L": 0.7706},
    "human": {"BERT": 0.6406, "CIDEr-D": 0.6686, "BLEU-4": 0.8743, "METEOR": 0.6358, "ROUGE-L": 0.6841},
}
# Table 3: log p-values of human captions on MS-COCO.
TABLE_3 = {
    "METEOR": -0.6303,
    "TRM-METEOR": -0.5941,
    "CIDEr-D": -0.5957,
    "TRM-CIDEr-D": -0.4742,
    "BERT": -0.6230,
    "TRM-BERT": -0.5633,
    "MMD-BERT": -0.6550,
}
# Table 4: log p-values on MS-COCO with five candidates and five references, of MAUVE and of METEOR.
TABLE_4 = {"CLIPCap": (-0.3980, -2.5585), "VLP": (-0.3234, -2.8609), "human": (-0.2189, -0.7233)}

_SPECS = {
    "METEOR": "score:distance=meteor",
    "TRM-METEOR": "trm:distance=meteor",
    "CIDEr-D": "score:distance=cider",
    "TRM-CIDEr-D": "trm:distance=cider",
    "BLEU-4": "score:distance=bleu",
    "ROUGE-L": "score:distance=rouge_l",
    "BERT": "score:distance=bert",
    "TRM-BERT": "trm:distance=bert",
    "MMD-BERT": "mmd",
    "MAUVE-BERT": "mauve",
}


@dataclass(frozen=True, eq=False)
class Images:
    """Images with five or more different references each, those that were drawn from all, and what metrics need."""

    items: tuple[Item, ...]
    everyone: tuple[Item, ...]
    pools: Pools
    encoder: str
    digest: str
    notes: tuple[str, ...]

    def p_values(self, metric: str, sides: Sequence[tuple[Sequence[str], Sequence[str]]], seed: int) -> list[float]:
        """The p-value of a metric for the candidates and references of each image."""
        (request,) = parse_requests([_SPECS[metric]], on="items")
        found = []
        for candidates, references in sides:
            pool = self.pools.pool(candidates, references)
            every = ways(len(candidates), len(references), most=1000, n_resamples=0, seed=seed)
            found.append(measure_item(request, pool, every).p_value)
        return found


def _open(files: Sequence[Path], run: Run, metrics: Sequence[str], encoder: str | None = None) -> Images:
    """Images drawn at random, with the distances that the metrics need."""
    everything = read_items(files[0])
    enough = [item for item in everything.items if len(set(item.references)) >= _REFERENCES]
    if not _FEWEST <= run.n_items <= len(enough):
        raise InputError(Setting("n_items", run.n_items), f"; wanted {_FEWEST} to {len(enough)} images")
    chosen = stream(run.seed, "captions", everything.digest).choice(len(enough), size=run.n_items, replace=False)
    items = tuple(enough[place] for place in sorted(chosen.tolist()))
    texts = [text for item in items for own in item.candidates.values() for text in own]
    table = TextTable.of([item.references for item in everything.items], others=texts, tokenizer=get_tokenizer("plain"))
    encoder = encoder or run.by_scale("lsa", "lsa", "minilm")
    sample = Sample.of(table.texts, name="captions")
    seen = get_encoder(encoder, reference=sample, candidates={}) if any("BERT" in name for name in metrics) else None
    surroundings = Surroundings(table, seen)
    names = {spec.partition("=")[2] for spec in (_SPECS[name] for name in metrics) if "=" in spec}
    distances = {name: get_distance(name, surroundings) for name in sorted(names)}
    values = seen.encode(table.texts) if seen is not None else None
    notes = tuple(note for distance in distances.values() for note in getattr(distance, "notes", ()))
    return Images(items, tuple(enough), Pools(table, distances, values), encoder, everything.digest, notes)


def _signature(run: Run, images: Images) -> str:
    return signature(
        run.name,
        {},
        settings={"enc": images.encoder},
        data={"items": f"{len(images.items)}/{images.digest}"},
        resampling={"seed": run.seed},
    )


_VECTORS = "BERT means vectors of {encoder} here; the paper's are of MiniLM, which the scale paper uses."


def _vector_note(images: Images) -> tuple[str, ...]:
    return () if images.encoder == "minilm" else (_VECTORS.format(encoder=images.encoder),)


def reproduce_table_1(files: Sequence[Path], run: Run) -> Reproduction:
    """Mean p-values with one candidate per image: of a model, and of a person."""
    metrics = list(TABLE_1["human"])
    images = _open(files, run, metrics)
    model = [(next(iter(item.candidates.values()))[:1], item.references[: _REFERENCES - 1]) for item in images.items]
    human = [
        (item.references[_REFERENCES - 1 : _REFERENCES], item.references[: _REFERENCES - 1]) for item in images.items
    ]
    run.progress.start("measuring", len(metrics))
    found: dict[str, tuple[float, float]] = {}
    for metric in metrics:
        by_model, by_people = (images.p_values(metric, sides, run.seed) for sides in (model, human))
        found[metric] = mean_p(by_model), mean_p(by_people)
        run.progress.step(1)
    claims = _single_claims(found)
    return Reproduction(
        name=run.name,
        title="Table 1: p-values with a single candidate per image",
        paper=_PAPER,
        design=f"{len(images.items):,} images of COCO: one caption by a model, or one held-out reference, against four "
        "references. Mean over images of the exact p-value, among the five ways to choose the candidate.",
        differs=(
            "The captions of CLIPCap and VLP are not available here; the model is that of the captions in the file.",
            "The printed values fit the mean of the images' p-values, which is computed here, not the harmonic mean.",
            *_vector_note(images),
        ),
        claims=claims,
        conclusion=_single_sentence(claims),
        options=run.options,
        signature=_signature(run, images),
        notes=images.notes,
        tables=(
            Numbers(
                "Mean p-value",
                ("CLIPCap, published", "VLP, published", "human, published", "model, ours", "human, ours"),
                tuple(
                    Row(metric, (*(TABLE_1[name][metric] for name in ("CLIPCap", "VLP", "human")), *pair))
                    for metric, pair in found.items()
                ),
                3,
            ),
        ),
    )


def _single_claims(found: Mapping[str, tuple[float, float]]) -> tuple[Claim, ...]:
    lowest = min(min(pair) for pair in found.values())
    closer = sum(a > b for a, b in found.values())
    return (
        Claim(
            "no metric tells a single candidate from people (all p > 0.05)",
            f"the lowest mean p-value is {lowest:.2f}; with five texts no p-value can be below 0.2",
            lowest > 0.05,
        ),
        Claim(
            "a model's caption has a higher p-value than a person's by most metrics (CLIPCap: 4 of 5)",
            f"by {closer} of {len(found)} metrics",
            closer >= 3,
        ),
    )


def _single_sentence(claims: Sequence[Claim]) -> str:
    alone, above = (claim.agrees for claim in claims)
    if not alone:
        return "Unlike the paper, some metric tells single candidates apart."
    first = "As in the paper, one candidate per image is too few: no metric tells it from the other references"
    return f"{first}." if above else f"{first}; but here people's captions have the higher p-values by most metrics."


def reproduce_table_3(files: Sequence[Path], run: Run) -> Reproduction:
    """Mean log p-values of human captions against human captions of the same image."""
    images = _open(files, run, list(TABLE_3))
    sides = [(item.references[:2], item.references[2:_REFERENCES]) for item in images.items]
    run.progress.start("measuring", len(TABLE_3))
    found: dict[str, float] = {}
    rejected: dict[str, float] = {}
    for metric in TABLE_3:
        p_values = images.p_values(metric, sides, run.seed)
        found[metric] = mean_log_p(p_values)
        rejected[metric] = float(np.mean([p <= 0.1 for p in p_values]))
        run.progress.step(1)
    higher = [name for name in ("METEOR", "CIDEr-D", "BERT") if found[f"TRM-{name}"] > found[name]]
    most = max(rejected, key=lambda name: rejected[name])
    claims = (
        Claim(
            "no method finds a difference between people",
            f"log p from {min(found.values()):.2f} to {max(found.values()):.2f}; the lowest possible p-value (0.1) is "
            f"reached by at most {rejected[most]:.0%} of the images ({most}), 10 % by chance",
            rejected[most] <= 0.2,
        ),
        Claim(
            "TRM has a higher p-value than its score, with METEOR, CIDEr-D and BERT",
            f"with {', '.join(higher) or 'none of them'}",
            len(higher) == 3,
        ),
    )
    return Reproduction(
        name=run.name,
        title="Table 3: log p-values of human captions",
        paper=_PAPER,
        design=f"{len(images.items):,} images of COCO: two of the references against three others; the mean over "
        "images of the natural log of the exact p-value, among all ten ways to choose the two. It would be -0.79 if "
        "all p-values were equally likely.",
        differs=(
            "The paper has ten against ten captions of the c40 split of COCO, which is not available here.",
            *_vector_note(images),
        ),
        claims=claims,
        conclusion=_people_sentence(claims, higher),
        options=run.options,
        signature=_signature(run, images),
        notes=images.notes,
        tables=(
            Numbers(
                "Mean of the log p-values",
                ("published", "ours"),
                tuple(Row(metric, (printed, found[metric])) for metric, printed in TABLE_3.items()),
                3,
            ),
        ),
    )


def _people_sentence(claims: Sequence[Claim], higher: Sequence[str]) -> str:
    first = (
        "As in the paper, no metric tells people from people" if claims[0].agrees else "Some metric tells people apart"
    )
    if claims[1].agrees:
        return f"{first}, and TRM has higher p-values than the score it is built on."
    return f"{first}; that TRM has higher p-values than its score shows for {len(higher)} of 3 scores only."


def _stand_ins(images: Images) -> list[tuple[str, ...]]:
    """For each image the captions of another image, the most similar one by the words of all its captions."""
    rows = TfidfVectorizer().fit_transform([" ".join(item.references) for item in images.everyone])
    place_of = {item.id: place for place, item in enumerate(images.everyone)}
    own = [place_of[item.id] for item in images.items]
    likeness = np.asarray((rows[own] @ rows.T).todense())
    likeness[np.arange(len(own)), own] = -1.0
    return [images.everyone[place].references[:_REFERENCES] for place in likeness.argmax(axis=1).tolist()]


_NO_MODEL = (
    "No captioning model that writes several captions per image is available here. People's captions of the most "
    "similar other image, which are fluent and almost right, are used instead."
)


def _by_number(
    images: Images, others: Sequence[Sequence[str]], metrics: Sequence[str], run: Run
) -> dict[str, list[float]]:
    """The mean log p-value of each metric with the first of the other captions as candidate, with the first two, ..."""
    found: dict[str, list[float]] = {metric: [] for metric in metrics}
    run.progress.start("measuring", _REFERENCES * len(metrics))
    for n in range(1, _REFERENCES + 1):
        pairs = zip(images.items, others, strict=True)
        sides = [(texts[:n], item.references[:_REFERENCES]) for item, texts in pairs]
        for metric in metrics:
            p_values = [p for p in images.p_values(metric, sides, run.seed) if not np.isnan(p)]
            found[metric].append(mean_log_p(p_values) if p_values else float("nan"))
            run.progress.step(1)
    return found


def _lines(found: Mapping[str, Sequence[float]]) -> tuple[Line, ...]:
    return tuple(
        Line(name, tuple(CurveAt(n, value) for n, value in enumerate(curve, 1) if not np.isnan(value)))
        for name, curve in found.items()
    )


def reproduce_figure_3(files: Sequence[Path], run: Run) -> Reproduction:
    """Log p-values over the number of candidates, of scores and of TRM on the same distances."""
    images = _open(files, run, _FIGURE_3)
    repeated = [next(iter(item.candidates.values()))[:1] * _REFERENCES for item in images.items]
    elsewhere, narrow = (_by_number(images, others, _FIGURE_3, run) for others in (_stand_ins(images), repeated))
    gains = [{name: _gain(found, name) for name in _SCORES} for found in (elsewhere, narrow)]
    claims = _sensitivity_claims(elsewhere, narrow)
    return Reproduction(
        name=run.name,
        title="Figure 3: log p-values over the number of candidates",
        paper=_PAPER,
        design=f"{len(images.items):,} images of COCO: one to five candidates against five references; the mean over "
        "images of the natural log of the exact p-value. Lower is more sensitive.",
        differs=(
            _NO_MODEL,
            "The second panel repeats the one caption of a model in the file, as the paper does for beams.",
            "The printed gains are those of O2NA on MSR-VTT.",
            *_vector_note(images),
        ),
        claims=claims,
        conclusion=_sensitivity_sentence(*gains),
        options=run.options,
        signature=_signature(run, images),
        notes=(
            *images.notes,
            f"Scores and TRM are compared with {_COMPARED} candidates: with five, as many as references, TRM is the "
            "same if both are exchanged, so that its p-value is at least 2 of 252 (log -4.84), not 1 of 252.",
        ),
        panels=tuple(
            Panel(title, "candidates", "mean log p-value", _lines(found))
            for title, found in (
                ("captions of the most similar other image", elsewhere),
                ("one caption of a model, repeated", narrow),
            )
        ),
    )


_SCORES = ("METEOR", "CIDEr-D", "BERT")
_FIGURE_3 = (*(metric for name in _SCORES for metric in (name, f"TRM-{name}")), "MMD-BERT")
_PRINTED_GAINS = {"METEOR": " (by 162 %)", "CIDEr-D": " (by 49 %)"}


# With five candidates and five references TRM is symmetric, and its lowest p-value is twice that of a score.
_COMPARED = 3


def _sensitivity_claims(
    elsewhere: Mapping[str, Sequence[float]], narrow: Mapping[str, Sequence[float]]
) -> tuple[Claim, ...]:
    falling = [name for name, curve in elsewhere.items() if curve[-1] < curve[1]]
    return (
        Claim(
            "every metric becomes more sensitive with more candidates",
            f"{len(falling)} of {len(elsewhere)} have a lower log p-value with 5 captions of another image than with 2",
            len(falling) == len(elsewhere),
        ),
        *(
            Claim(
                f"TRM with {name} is more sensitive than {name}{_PRINTED_GAINS.get(name, '')}",
                f"{case}: log p-value {found[f'TRM-{name}'][_COMPARED - 1]:.2f}, that of {name} "
                f"{found[name][_COMPARED - 1]:.2f} ({100 * _gain(found, name):+.0f} %)",
                _gain(found, name) > 0,
            )
            for case, found in (("captions of another image", elsewhere), ("one repeated caption", narrow))
            for name in _SCORES
        ),
    )


def _gain(found: Mapping[str, Sequence[float]], name: str) -> float:
    """By how much the log p-value of TRM is larger in size than that of the score on the same distance."""
    return found[f"TRM-{name}"][_COMPARED - 1] / found[name][_COMPARED - 1] - 1


def _sensitivity_sentence(elsewhere: Mapping[str, float], narrow: Mapping[str, float]) -> str:
    varied, repeated = (sum(gain > 0 for gain in gains.values()) for gains in (elsewhere, narrow))
    if varied == repeated == len(_SCORES):
        return "As in the paper, TRM is more sensitive than the score on the same distance, in both cases."
    return (
        "As in the paper, more candidates make every metric more sensitive; TRM is more sensitive than the score on "
        f"the same distance with {repeated} of {len(_SCORES)} distances if the candidates lack variety (one repeated "
        f"caption), but with {varied} of {len(_SCORES)} if they are varied captions of a similar image."
    )


# A bag of 5,000 words as in the paper, latent semantic analysis, and the encoder of the paper.
_ENCODERS = ("bow:5000", "lsa", "minilm")


def reproduce_figure_7(files: Sequence[Path], run: Run) -> Reproduction:
    """MMD with several encoders: log p-values over the number of candidates, and of people against people."""
    encoders = run.by_scale(_ENCODERS[:2], _ENCODERS[:2], _ENCODERS)
    curves: dict[str, list[float]] = {}
    people: dict[str, float] = {}
    for name in encoders:
        images = _open(files, run, ("MMD-BERT",), name)
        curves[name] = _by_number(images, _stand_ins(images), ("MMD-BERT",), run)["MMD-BERT"]
        halves = [(item.references[:2], item.references[2:_REFERENCES]) for item in images.items]
        people[name] = mean_log_p(images.p_values("MMD-BERT", halves, run.seed))
    best = min(curves, key=lambda name: curves[name][-1])
    claims = (
        Claim(
            "MMD with a trained encoder is more sensitive than with a bag of words",
            f"with 5 candidates: {', '.join(f'{name} {curve[-1]:.2f}' for name, curve in curves.items())}",
            best != _ENCODERS[0],
        ),
        Claim(
            "with every encoder, people are not distinguished from people",
            ", ".join(f"{name} {value:.2f}" for name, value in people.items()) + " (-0.79 if all p are equally likely)",
            min(people.values()) > -1.0,
        ),
    )
    return Reproduction(
        name=run.name,
        title="Figure 7: MMD with several encoders",
        paper=_PAPER,
        design=f"{run.n_items:,} images of COCO: MMD with one to five candidates against five references, and with two "
        "against three references of the same image; the mean over images of the natural log of the exact p-value.",
        differs=(
            _NO_MODEL,
            "GloVe, FastText and CLIP are not available here; LSA, fitted on the captions, is used instead. The scale "
            "paper adds MiniLM.",
            "The speed of encoders is in the benchmarks.",
        ),
        claims=claims,
        conclusion="As in the paper, vectors of meaning or of co-occurrence are more sensitive than a bag of words, "
        "and none distinguishes people from people."
        if all(claim.agrees for claim in claims)
        else f"{sum(claim.agrees for claim in claims)} of {len(claims)} findings show; {best} is the most sensitive.",
        options=run.options,
        signature=_signature(run, images),
        panels=(Panel("MMD", "candidates", "mean log p-value", _lines(curves)),),
        tables=(
            Numbers(
                "People against people: mean log p-value",
                ("ours",),
                tuple(Row(name, (value,)) for name, value in people.items()),
            ),
        ),
    )


def reproduce_table_4(files: Sequence[Path], run: Run) -> Reproduction:
    """Log p-values of MAUVE and METEOR with five candidates and five references."""
    images = _open(files, run, ("METEOR", "MAUVE-BERT"))
    others = _stand_ins(images)
    cases = {
        "captions of another image": [
            (texts, item.references[:_REFERENCES]) for item, texts in zip(images.items, others, strict=True)
        ],
        "human": [(item.references[:2], item.references[2:_REFERENCES]) for item in images.items],
    }
    found = {
        case: (
            mean_log_p(images.p_values("MAUVE-BERT", sides, run.seed)),
            mean_log_p(images.p_values("METEOR", sides, run.seed)),
        )
        for case, sides in cases.items()
    }
    model = found["captions of another image"]
    claims = _few_claims(model, found["human"])
    return Reproduction(
        name=run.name,
        title="Table 4: log p-values of MAUVE and METEOR with few captions",
        paper=_PAPER,
        design=f"{len(images.items):,} images of COCO: five captions of the most similar other image against five "
        "references, and two against three references; the vectors of all captions of an image form two clusters, and "
        "MAUVE (scale 5) and METEOR are computed for all ways to choose the candidates.",
        differs=(
            _NO_MODEL,
            "The human captions are two against three, the paper's five against five.",
            *_vector_note(images),
        ),
        claims=claims,
        conclusion="As in the paper, MAUVE is less sensitive than METEOR if there are few captions, and does not tell "
        "people apart."
        if all(claim.agrees for claim in claims)
        else f"{sum(claim.agrees for claim in claims)} of {len(claims)} findings of the paper show: MAUVE has a log "
        f"p-value of {model[0]:.2f} and METEOR of {model[1]:.2f} for captions of another image.",
        options=run.options,
        signature=_signature(run, images),
        notes=images.notes,
        tables=(
            Numbers(
                "Mean of the log p-values",
                ("MAUVE", "METEOR"),
                tuple(
                    [Row(f"{name}, published", pair) for name, pair in TABLE_4.items()]
                    + [Row(f"{case}, ours", pair) for case, pair in found.items()]
                ),
                3,
            ),
        ),
    )


def _few_claims(model: tuple[float, float], human: tuple[float, float]) -> tuple[Claim, ...]:
    return (
        Claim(
            "MAUVE is much less sensitive than METEOR with five candidates (CLIPCap: -0.40 against -2.56)",
            f"{model[0]:.2f} against {model[1]:.2f}",
            model[0] > model[1],
        ),
        Claim(
            "MAUVE finds no difference between people (-0.22)",
            f"{human[0]:.2f}",
            human[0] > -1.0,
        ),
    )
