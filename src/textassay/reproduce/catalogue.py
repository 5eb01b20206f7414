"""Reproductions by name: which table or figure of which paper, the data it needs, and the function that makes it."""

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from textassay.corpus.printable import quoted
from textassay.corpus.values import is_whole
from textassay.errors import InputError, Setting
from textassay.inference.plan import Progress, Silent
from textassay.reproduce import huse_paper as huse
from textassay.reproduce import mcdiv_paper as mcdiv
from textassay.reproduce.discrepancy import figures as dd_figures
from textassay.reproduce.discrepancy import tables as dd_tables
from textassay.reproduce.discrepancy.published import reproduce_published
from textassay.reproduce.joint import oracle, samples, sweeps
from textassay.reproduce.quality_diversity import synthetic, temperatures, texts
from textassay.reproduce.result import SCALES, Reproduction, Run
from textassay.reproduce.triangles import p_values, sensitivity, single_captions
from textassay.reproduce.triangles.central_captions import reproduce_figures_10_to_13
from textassay.reproduce.triangles.mixtures import reproduce_mixtures

# The variable that names the folder of data where the command line does not.
DATA_VARIABLE = "TEXTASSAY_DATA"

# Makes a reproduction from its files.
Make = Callable[[Sequence[Path], Run], Reproduction]


@dataclass(frozen=True)
class Reproducible:
    """Something published that can be made again.

    `sizes` is how many items or texts each scale takes, `hardware` what the scale `paper` needs, and `fewest` the
    smallest number of items or texts that gives a result.
    """

    title: str
    paper: str
    files: tuple[str, ...]
    sizes: tuple[int, int, int]
    make: Make
    hardware: str = "a laptop"
    fewest: int = 1

    def size(self, scale: str) -> int:
        """The number of items or texts at this scale."""
        return self.sizes[SCALES.index(scale)]


@dataclass(frozen=True)
class NotRebuilt:
    """A table or figure that cannot be made again here, and why."""

    what: str
    paper: str
    reason: str


# The folder names of the pages, and the papers in the order of the listing.
PAPERS: Mapping[str, str] = {
    "qd": "li2020",
    "dd": "cai2020",
    "trm": "chan2022",
    "msj": "montahaei2019",
    "huse": "hashimoto2019",
    "mcdiv": "tevet2021",
}

_CAPTIONS = ("captions/coco_val_sample.json",)
_ENCODER = "a laptop with the extra embed (MiniLM)"
# Fewer texts have too few of some lengths, or none for training.
_FEWEST_TEXTS = 50
_RATINGS = "huse/summarization_ratings.csv"

_CAPTION_TEXTS = ("coco/train.txt", "coco/test.txt")
# All tables and figures of generators are about the same ones.
_DD_SIZES, _FEWEST_POOL = (100, 3_000, 60_000), 100
_DD_HARDWARE = "months of one core: 30 LSTMs with two layers of 512 and 33 GPT-2 with 12 layers of 768, 80 epochs each"
_CORPORA = ("coco/train.txt", "coco/test.txt", "news/valid.txt", "news/test.txt")

REPRODUCTIONS: dict[str, Reproducible] = {
    "qd-figure-1": Reproducible(
        "LL and SE on a toy distribution: real is on the frontier",
        "li2020",
        (),
        (20, 20, 20),
        synthetic.reproduce_figure_1,
        fewest=2,
    ),
    "qd-figure-2": Reproducible(
        "mixtures with noise and real text, by BLEU and by CR",
        "li2020",
        _CORPORA,
        (2_000, 40_000, 40_000),
        texts.reproduce_figure_2,
        fewest=_FEWEST_TEXTS,
    ),
    "qd-figure-3": Reproducible(
        "CR, NRR and CND over the temperature of a language model",
        "li2020",
        _CORPORA,
        (200, 1_500, 40_000),
        temperatures.reproduce_figure_3,
        "a GPU, or hours of one core: an LSTM of 128 units, 30 epochs on 40,000 texts",
        fewest=_FEWEST_TEXTS,
    ),
    "qd-figure-4": Reproducible(
        "pairs that do not match: real is below the frontier",
        "li2020",
        (),
        (20, 20, 20),
        synthetic.reproduce_figure_4,
        fewest=2,
    ),
    "qd-figure-6": Reproducible(
        "BLEU, NSBLEU, CR, NRR and CND of optima on synthetic data",
        "li2020",
        (),
        (3, 3, 3),
        synthetic.reproduce_figure_6,
    ),
    "qd-table-1": Reproducible(
        "lower bounds of QDisc on synthetic data (items: starts of the optimiser)",
        "li2020",
        (),
        (1, 12, 100),
        synthetic.reproduce_bounds,
    ),
    "qd-table-2": Reproducible(
        "QDisc, DRate, Self-Ratio and Ref-Ratio on real texts",
        "li2020",
        _CORPORA,
        (2_000, 40_000, 40_000),
        texts.reproduce_table_2,
        fewest=_FEWEST_TEXTS,
    ),
    "dd-published": Reproducible(
        "Kendall's tau from the printed Tables 2, 3 and 6", "cai2020", (), (10, 10, 10), reproduce_published
    ),
    "dd-table-2": Reproducible(
        "oracle dd and its estimate on synthetic texts (items: texts of the pool)",
        "cai2020",
        _CAPTION_TEXTS,
        _DD_SIZES,
        dd_tables.reproduce_table_2,
        _DD_HARDWARE,
        fewest=_FEWEST_POOL,
    ),
    "dd-table-3": Reproducible(
        "DD of generators trained on more and more captions",
        "cai2020",
        _CAPTION_TEXTS,
        _DD_SIZES,
        dd_tables.reproduce_table_3,
        _DD_HARDWARE,
        fewest=_FEWEST_POOL,
    ),
    "dd-table-4": Reproducible(
        "Kendall's tau of metrics with the order of generators, real texts",
        "cai2020",
        _CAPTION_TEXTS,
        _DD_SIZES,
        dd_tables.reproduce_table_4,
        _DD_HARDWARE,
        fewest=_FEWEST_POOL,
    ),
    "dd-table-5": Reproducible(
        "Kendall's tau of metrics with the oracle dd, synthetic texts",
        "cai2020",
        _CAPTION_TEXTS,
        _DD_SIZES,
        dd_tables.reproduce_table_5,
        _DD_HARDWARE,
        fewest=_FEWEST_POOL,
    ),
    "dd-table-6": Reproducible(
        "FED of generators of synthetic texts",
        "cai2020",
        _CAPTION_TEXTS,
        _DD_SIZES,
        dd_tables.reproduce_table_6,
        _DD_HARDWARE,
        fewest=_FEWEST_POOL,
    ),
    "dd-table-7": Reproducible(
        "BLEU and Self-BLEU of generators, real texts",
        "cai2020",
        _CAPTION_TEXTS,
        _DD_SIZES,
        dd_tables.reproduce_table_7,
        _DD_HARDWARE,
        fewest=_FEWEST_POOL,
    ),
    "dd-figure-2": Reproducible(
        "metrics of generators over temperatures, real texts",
        "cai2020",
        _CAPTION_TEXTS,
        _DD_SIZES,
        dd_figures.reproduce_figure_2,
        _DD_HARDWARE,
        fewest=_FEWEST_POOL,
    ),
    "dd-figure-3": Reproducible(
        "metrics of generators over temperatures, synthetic texts",
        "cai2020",
        _CAPTION_TEXTS,
        _DD_SIZES,
        dd_figures.reproduce_figure_3,
        _DD_HARDWARE,
        fewest=_FEWEST_POOL,
    ),
    "trm-table-1": Reproducible(
        "p-values with a single candidate per image",
        "chan2022",
        _CAPTIONS,
        (12, 300, 1000),
        single_captions.reproduce_table_1,
        _ENCODER,
    ),
    "trm-table-3": Reproducible(
        "log p-values of human captions", "chan2022", _CAPTIONS, (12, 900, 900), p_values.reproduce_table_3, _ENCODER
    ),
    "trm-table-4": Reproducible(
        "log p-values of MAUVE and METEOR with few captions",
        "chan2022",
        _CAPTIONS,
        (12, 100, 1000),
        p_values.reproduce_table_4,
        _ENCODER,
    ),
    "trm-figure-3": Reproducible(
        "log p-values over the number of candidates",
        "chan2022",
        _CAPTIONS,
        (12, 100, 1000),
        sensitivity.reproduce_figure_3,
        _ENCODER,
    ),
    "trm-figure-7": Reproducible(
        "MMD with several encoders", "chan2022", _CAPTIONS, (12, 100, 1000), sensitivity.reproduce_figure_7, _ENCODER
    ),
    "trm-figure-8": Reproducible(
        "METEOR sees correct captions, TRM sees correct and different ones",
        "chan2022",
        _CAPTIONS,
        (20, 400, 1000),
        partial(reproduce_mixtures, distance="meteor"),
    ),
    "trm-figure-9": Reproducible(
        "the same with CIDEr-D",
        "chan2022",
        _CAPTIONS,
        (20, 400, 1000),
        partial(reproduce_mixtures, distance="cider"),
    ),
    "trm-figure-10": Reproducible(
        "Figures 10 to 13: the central caption of an image",
        "chan2022",
        _CAPTIONS,
        (20, 900, 900),
        reproduce_figures_10_to_13,
        fewest=10,
    ),
    "msj-table-1": Reproducible(
        "BLEU, Self-BLEU, MS-Jaccard and Frechet distance of real text and six models, and Figure 2",
        "montahaei2019",
        samples.TABLE_1_FILES,
        (150, 10_000, 10_000),
        samples.reproduce_table_1,
        fewest=_FEWEST_TEXTS,
    ),
    "msj-table-4": Reproducible(
        "NLL, Oracle-NLL and Bhattacharyya distance on texts of an oracle, and Figures 1d and 3",
        "montahaei2019",
        (),
        (100, 2_000, 50_000),
        oracle.reproduce_table_4,
        "a GPU: four models over 5,000 words, 50,000 texts, 80 epochs and 500 adversarial rounds",
        fewest=_FEWEST_TEXTS,
    ),
    "msj-figure-1": Reproducible(
        "diversity against quality over temperatures",
        "montahaei2019",
        _CORPORA,
        (60, 1_000, 20_000),
        sweeps.reproduce_figure_1,
        fewest=_FEWEST_TEXTS,
    ),
    "msj-figure-4": Reproducible(
        "correlation of metrics over generators, temperatures and corpora",
        "montahaei2019",
        _CORPORA,
        (60, 1_000, 20_000),
        sweeps.reproduce_figure_4,
        "hours of a laptop: a vector for each of a million texts",
        fewest=_FEWEST_TEXTS,
    ),
    "huse-table-1": Reproducible(
        "HUSE, HUSE-Q and HUSE-D of news summaries",
        "hashimoto2019",
        (_RATINGS, "huse/summarization_items.csv"),
        (200, 200, 200),
        huse.reproduce_table_1,
    ),
    "huse-table-2": Reproducible(
        "examples of failures: their ratings, log-probabilities and votes",
        "hashimoto2019",
        (_RATINGS,),
        (200, 200, 200),
        huse.reproduce_table_2,
    ),
    "huse-figure-3": Reproducible(
        "models in the plane of HUSE-D and HUSE-Q",
        "hashimoto2019",
        (_RATINGS,),
        (200, 200, 200),
        huse.reproduce_figure_3,
    ),
    "huse-figure-4": Reproducible(
        "human and model summaries by rating and log-probability",
        "hashimoto2019",
        (_RATINGS,),
        (200, 200, 200),
        huse.reproduce_figure_4,
    ),
    "huse-figure-5": Reproducible(
        "HUSE on fewer items and with fewer ratings per item",
        "hashimoto2019",
        (_RATINGS,),
        (200, 200, 200),
        huse.reproduce_figure_5,
    ),
    "mcdiv": Reproducible(
        "metrics of diversity on sets of responses that people wrote and rated (items: sets per file)",
        "tevet2021",
        mcdiv.FILES,
        (20, 250, 250),
        mcdiv.reproduce_mcdiv,
        _ENCODER,
        fewest=10,
    ),
}

NOT_REBUILT: tuple[NotRebuilt, ...] = (
    NotRebuilt(
        "Figures 5 and 7",
        "li2020",
        "steps of an optimiser and probabilities of random weights that are not published; `textassay frontier "
        "oracle:0.5 oracle:1 oracle:2 --report FILE` draws both for other weights",
    ),
    NotRebuilt("Table 1 and Figure 1", "cai2020", "hyper-parameters and a drawing of the definition, no measurement"),
    NotRebuilt(
        "LSTMs and GPT-2 of the paper's sizes",
        "cai2020",
        "637 s per epoch of one LSTM on one core, with 80 epochs and 30 of them; `--scale paper` would train them",
    ),
    NotRebuilt("Figures 1 and 2", "chan2022", "an example and a drawing of the idea, no measurement"),
    NotRebuilt("Table 2", "chan2022", "seconds per sample on the authors' machine; they say nothing about another one"),
    NotRebuilt(
        "Figures 4 and 14",
        "chan2022",
        "two sets of captions of one image by CLIPCap; neither the model nor its captions are available here",
    ),
    NotRebuilt(
        "Figures 5 and 6",
        "chan2022",
        "captions by CLIPCap, VLP and TVT at many temperatures; neither their weights nor the images and videos are "
        "available here. `textassay sweep` measures TRM of a model over temperatures and decoders in this way",
    ),
    NotRebuilt("MSR-VTT in every table", "chan2022", "neither the videos nor their 20 captions are available here"),
    NotRebuilt(
        "Table 2",
        "montahaei2019",
        "the samples of its models are not published; of its real text size and preparation are not stated (10,000 "
        "sentences of WMT news against 10,000 give MS-Jaccard-4 0.222, printed 0.243)",
    ),
    NotRebuilt("Table 3", "montahaei2019", "neither the samples of its models nor the IMDB reviews are available here"),
    NotRebuilt("Figure 2 of news and reviews", "montahaei2019", "bars of Tables 2 and 3"),
    NotRebuilt("Figure 1c", "montahaei2019", "the IMDB reviews are not available here"),
    NotRebuilt("Figures 1 and 6", "hashimoto2019", "an example and the page that raters saw, no measurement"),
    NotRebuilt("Figure 2", "hashimoto2019", "the ratings of Reddit comments are not published in this form"),
    NotRebuilt(
        "Table 1 and Figures 3, 4 and 5 at other temperatures and tasks",
        "hashimoto2019",
        "only the ratings of summarization at t = 1.0 are published; `textassay huse` draws several models in one "
        "plane where there are ratings of each",
    ),
    NotRebuilt(
        "decTest: metrics over the temperature of a generator",
        "tevet2021",
        "the generated responses are not among the files here; `textassay sweep` measures metrics over temperatures",
    ),
    NotRebuilt("All sets of McDiv", "tevet2021", "the files here have the 200 sets per task with human scores"),
)


def find_reproduction(name: str) -> Reproducible:
    """The reproduction of this name."""
    if name in REPRODUCTIONS:
        return REPRODUCTIONS[name]
    near = difflib.get_close_matches(name, REPRODUCTIONS, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise InputError(f"no reproduction {quoted([name])}; {hint}there are: {', '.join(REPRODUCTIONS)}")


def find_files(entries: Sequence[Reproducible], folder: str | None) -> dict[str, Path]:
    """The data files of some reproductions, which must all be there, by their names in the folder."""
    wanted = list(dict.fromkeys(file for entry in entries for file in entry.files))
    if not wanted:
        return {}
    how = (Setting("data", "FOLDER"), f" or {DATA_VARIABLE}=FOLDER")
    if not folder:
        raise InputError("no folder of data; wanted ", *how, f", with {', '.join(wanted)} in it")
    found = {file: Path(folder) / file for file in wanted}
    missing = [file for file, path in found.items() if not path.exists()]
    if missing:
        raise InputError(f"{folder}: no file {', '.join(missing)}; wanted the folder that has it (", *how, ")")
    return found


def reproduce(
    name: str,
    *,
    data: str | None = None,
    scale: str = "laptop",
    n_items: int | None = None,
    seed: int = 0,
    work: str | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Make a published table or figure again, from the data in a folder if it needs any.

    A long run stores its parts in the folder `work`, and continues from them.
    """
    entry = find_reproduction(name)
    if scale not in SCALES:
        raise InputError(Setting("scale", scale), f"; wanted {', '.join(SCALES[:-1])} or {SCALES[-1]}")
    files = find_files([entry], data)
    size = entry.size(scale) if n_items is None else n_items
    if not is_whole(size) or size < entry.fewest:
        raise InputError(Setting("n_items", size), f"; wanted a whole number of {entry.fewest} or more")
    if work is not None and not Path(work).is_dir():
        raise InputError(Setting("work", work), ": no such folder; wanted one that exists")
    run = Run(name, scale, size, seed, progress or Silent(), None if work is None else Path(work))
    made = entry.make([files[file] for file in entry.files], run)
    return replace(made, files=entry.files)
