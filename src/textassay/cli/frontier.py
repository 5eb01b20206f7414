"""`textassay frontier`: can a pair of metrics reflect how well a distribution is fitted?"""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from textassay.cli import options

if TYPE_CHECKING:
    from textassay.inference.plan import Progress


def frontier(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="Real texts (a file), probabilities (a file, with --probabilities), toy:N for a random distribution "
            "with N outcomes, or oracle:SIGMA for all texts of a small space under an LSTM with random weights.",
        ),
    ],
    pairs: Annotated[
        list[str] | None,
        typer.Option(
            "--pairs",
            "-p",
            metavar="LIST",
            help="Pairs of quality and diversity. On distributions and on n-grams: QUALITY/DIVERSITY, such as "
            "ll/se,cr/nrr. Quality: ll (log-likelihood), cr (coverage rate), bleu1-R (BLEU-1 with R references). "
            "Diversity: se (Shannon entropy), nrr (negative repetition rate), sdi (Simpson's diversity index), "
            "nsbleu1-C (negative Self-BLEU-1 of C texts). On texts and oracle: bs-n (BLEU and Self-BLEU) and cn-n (CR "
            "and NRR), such as bs-2,cn-2. [default: those of the paper]",
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Real texts that quality is measured against. [default: halves of the texts]"
        ),
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Sources are files of probabilities: one per line, or a column.")
    ] = False,
    n: Annotated[
        int, typer.Option("--n", metavar="N", help="Order of n-grams for QUALITY/DIVERSITY pairs on texts.")
    ] = 2,
    space: Annotated[
        str,
        typer.Option(metavar="ngrams|texts", help="What QUALITY/DIVERSITY pairs see of texts: n-grams or whole texts."),
    ] = "ngrams",
    tokenizer: options.Tokenizer = "words",
    lowercase: options.Lowercase = False,
    field: options.Field = None,
    encoding: options.Encoding = "utf-8",
    points: Annotated[int, typer.Option(metavar="N", help="Number of points of an exact frontier.")] = 81,
    starts: Annotated[int, typer.Option(metavar="N", help="Number of starts of the optimiser on oracle.")] = 12,
    seeds: Annotated[
        int,
        typer.Option(
            metavar="N", help="For bs-n and cn-n on texts: number of draws of halves and mixtures, for an interval."
        ),
    ] = 4,
    noise_lengths: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="For pairs on texts: words of the noise texts, as numbers, median or max, such as 5,median,max.",
        ),
    ] = "5,max",
    seed: options.Seed = 0,
    json: options.Json = None,
    csv: Annotated[str | None, typer.Option(metavar="FILE|-", help="Write CSV with one row per point.")] = None,
    markdown: options.Markdown = None,
    latex: options.Latex = None,
    report: options.Report = None,
    table: options.FullTable = False,
    why: Annotated[bool, typer.Option("--why", help="Print the conditions of the theorems for each pair.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Find whether a quality-diversity pair can rank models.

    Measures how far real text is below the Pareto frontier of a pair of quality and diversity metrics. A pair is
    compatible with distribution fitting if no other distribution has more quality and more diversity than the real one
    (Li et al. 2020). Prints the gap in quality of each pair (QDisc), its share of the range of quality (DRate), and a
    verdict: compatible, or incompatible by at least the gap.
    """
    from textassay.cli.outputs import check_writable, deliver_outcome
    from textassay.engines.progress_bar import ProgressBar
    from textassay.studies.frontier.study import frontier as run

    files = [*sources, *([reference] if reference else [])]
    check_writable([json, csv, markdown, latex, report], inputs=[*files, tokenizer])
    with ProgressBar(quiet=quiet) as progress:
        found = run(
            _read(sources, probabilities=probabilities, field=field, encoding=encoding, progress=progress),
            pairs=options.split(pairs),
            reference=_texts(reference, field=field, encoding=encoding) if reference else None,
            n=n,
            space=space,
            tokenizer=tokenizer,
            lowercase=lowercase,
            n_points=points,
            n_starts=starts,
            n_seeds=seeds,
            noise_lengths=noise_lengths,
            seed=seed,
            progress=progress,
        )
    targets = {"json": json, "csv": csv, "markdown": markdown, "latex": latex, "report": report}
    deliver_outcome(found, targets, quiet=quiet, table=table, why=why)


def _read(
    sources: list[str], *, probabilities: bool, field: str | None, encoding: str, progress: "Progress"
) -> dict[str, Any]:
    """Each source by name: a distribution, a sample, or a synthetic source as it is."""
    from textassay.corpus.files.reading import named_paths
    from textassay.studies.frontier.sources import is_synthetic, read_probabilities

    progress.start("reading", len(sources))
    found: dict[str, Any] = {}
    paths = [source for source in sources if not is_synthetic(source)]
    names = dict(zip(paths, named_paths(paths), strict=True))
    for source in sources:
        if is_synthetic(source):
            found[source] = source
        elif probabilities:
            found[names[source]] = read_probabilities(source, field=field, encoding=encoding)[1]
        else:
            found[names[source]] = _texts(source, field=field, encoding=encoding)
        progress.step(1)
    return found


def _texts(source: str, *, field: str | None, encoding: str) -> Any:
    from textassay.corpus.readers import read_sample

    return read_sample(source, field=field, encoding=encoding)
