"""`textassay sample`: texts from a model."""

import inspect
import json
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textassay.cli import options

if TYPE_CHECKING:
    from textassay.corpus.sample import GeneratedTexts
    from textassay.models.base import Progress

_DEFAULT_N = 100
# Models that do not report their own progress generate this number of texts at a time.
_AT_A_TIME = 1000
_JSON_LINES = (".jsonl", ".ndjson")


def sample(
    model: options.ModelFile,
    n: Annotated[
        int | None,
        typer.Option("-n", metavar="N", help="Number of texts, or of texts per prompt. [default: 100; 1 per prompt]"),
    ] = None,
    temperature: options.Temperature = 1.0,
    top_k: options.TopK = None,
    top_p: options.TopP = None,
    greedy: Annotated[bool, typer.Option("--greedy", help="Always take the most probable next token.")] = False,
    beam: Annotated[
        int | None,
        typer.Option(metavar="N", help="Beam search of this width for the most probable text."),
    ] = None,
    prompts: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Beginnings or prompts. Texts are their continuations, without the prompt."),
    ] = None,
    field: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The field of --prompts with the prompt. [default: prompt, question, ...]"),
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(metavar="N", help="Cut texts off after N tokens. [default: the model's own limit]")
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Store the finished texts of an API endpoint here and continue from it."),
    ] = None,
    encoding: options.Encoding = "utf-8",
    seed: options.Seed = 0,
    out: Annotated[
        str, typer.Option(metavar="FILE|-", help="Where to write: .txt (one text per line), .jsonl with prompts, or -.")
    ] = "-",
    quiet: options.Quiet = False,
) -> None:
    """Generate texts with a model.

    The decoding setting is applied in this order: temperature, --top-k, --top-p. Deterministic decoding (--greedy,
    --beam) gives one text, or one per prompt. A .jsonl file also has the prompt and, if texts were cut off at the
    length limit, a field finish_reason, which `textassay score` and `textassay compare` read.
    """
    from textassay.cli.models.prompts import read_prompts
    from textassay.cli.outputs import check_writable, deliver
    from textassay.corpus.sample import GeneratedTexts
    from textassay.engines.progress_bar import ProgressBar
    from textassay.models.choose import get_model

    given = {"--temperature": temperature != 1, "--top-k": top_k is not None, "--top-p": top_p is not None}
    _check_modes(greedy, beam, n, [name for name, is_given in given.items() if is_given], bool(prompts))
    check_writable([out, resume], inputs=[model, *([prompts] if prompts else [])])
    with ProgressBar(quiet=quiet) as progress:
        progress.start("reading the model", 1)
        generator = get_model(model)
        begun = None
        if prompts:
            read = read_prompts(prompts, field=field, encoding=encoding, quiet=quiet)
            _check_number((n or 1) * len(read))
            begun = [prompt for prompt in read for _ in range(n or 1)]
        chosen = {"max_tokens": max_tokens, "resume": resume}
        if beam is not None:
            texts = GeneratedTexts(_call(generator, "beam", {"width": beam, "prompts": begun}, chosen))
        else:
            settings = {"temperature": temperature, "top_k": 1 if greedy else top_k, "top_p": top_p}
            size = len(begun) if begun is not None else 1 if greedy else _DEFAULT_N if n is None else n
            texts = _generated(generator, size, begun, {**settings, **chosen}, seed, progress.report)
    _note_texts(texts, keeps_ends=out.endswith(_JSON_LINES), quiet=quiet)
    deliver([(out, lambda: _written(texts, begun, out))], table=lambda: None, quiet=quiet)


def _check_modes(greedy: bool, beam: int | None, n: int | None, given: Sequence[str], prompted: bool) -> None:
    from textassay.errors import InputError

    mode = "--greedy" if greedy else "--beam" if beam is not None else None
    if n is not None and n < 1:
        raise InputError(f"-n {n}; wanted 1 or more")
    _check_number(n or 1)
    if mode is None:
        return
    if greedy and beam is not None:
        raise InputError("--greedy and --beam; wanted one of them")
    if given:
        raise InputError(f"{mode} with {', '.join(given)}; wanted only one way of decoding")
    if n is not None and n > 1:
        what = "the same text for each prompt" if prompted else "one text"
        raise InputError(f"{mode} with -n {n}; {mode} gives {what}, so wanted 1")


def _check_number(n: int) -> None:
    from textassay.errors import InputError
    from textassay.models.base import MOST_TEXTS

    if n > MOST_TEXTS:
        raise InputError(f"-n: {n:,} texts; wanted at most {MOST_TEXTS:,}")


def _generated(
    model: Any, n: int, prompts: list[str] | None, settings: dict[str, Any], seed: int, report: "Progress"
) -> "GeneratedTexts":
    """The texts, in parts if the model does not report its progress itself."""
    from textassay.corpus.sample import GeneratedTexts, stream

    rng = stream(seed, "sample")
    optional = {name: settings[name] for name in ("max_tokens", "resume")}
    always = {name: value for name, value in settings.items() if name not in optional}
    if "progress" in inspect.signature(model.sample).parameters:
        own = {**always, "prompts": prompts, "rng": rng, "progress": report}
        return GeneratedTexts(_call(model, "sample", own, optional, n))
    parts = []
    for start in range(0, n, _AT_A_TIME):
        report("generating", start, n)
        size = min(_AT_A_TIME, n - start)
        part = None if prompts is None else prompts[start : start + size]
        parts.append(GeneratedTexts(_call(model, "sample", {**always, "prompts": part, "rng": rng}, optional, size)))
    return GeneratedTexts.concat(parts)


def _call(model: Any, name: str, arguments: dict[str, Any], optional: dict[str, Any], *first: int) -> Any:
    """Call a method of a model with the options that are set; one that the model does not have is an error."""
    from textassay.errors import InputError, Setting

    method: Callable[..., Any] | None = getattr(model, name, None)
    if method is None:
        raise InputError(f"model {model.name}: has no beam search; wanted another way of decoding")
    known = inspect.signature(method).parameters
    for option, value in optional.items():
        if value is not None and option not in known:
            raise InputError(f"model {model.name}: does not use ", Setting(option))
    return method(*first, **arguments, **{k: v for k, v in optional.items() if v is not None})


def _note_texts(texts: "GeneratedTexts", *, keeps_ends: bool, quiet: bool) -> None:
    from textassay.corpus.printable import many
    from textassay.models.vocabulary import UNKNOWN

    blank, unknown = sum(not text.strip() for text in texts), sum(UNKNOWN in text for text in texts)
    if blank and not quiet:
        sys.stderr.write(f"note: {many(blank, 'text is', 'texts are')} blank\n")
    if unknown and not quiet:
        sys.stderr.write(f"note: {many(unknown, 'text has', 'texts have')} an unknown word ({UNKNOWN})\n")
    cut = int(texts.cut_off.sum())
    if cut and not quiet:
        share, lost = f"{100 * cut / len(texts):.3g} %", "" if keeps_ends else "; only .jsonl states which"
        sys.stderr.write(f"note: {many(cut, 'text was', 'texts were')} cut off at the length limit ({share}){lost}\n")


def _written(texts: "GeneratedTexts", prompts: list[str] | None, target: str) -> str:
    """One text per line; in JSON Lines also its prompt and, if some texts were cut off, why it ended.

    A line break inside a text would begin another text.
    """
    from textassay.corpus.readers import CUT_OFF
    from textassay.corpus.rows import FINISH

    if target.endswith(_JSON_LINES):
        columns: dict[str, Sequence[str]] = {} if prompts is None else {"prompt": prompts}
        columns["text"] = texts
        if texts.cut_off.any():
            columns[FINISH] = [CUT_OFF[0] if is_cut else "stop" for is_cut in texts.cut_off]
        records = (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return "".join(" ".join(text.splitlines()) + "\n" for text in texts)
