"""Every metric, command and option is documented, and the examples in the documents run."""

import contextlib
import doctest
import importlib.util
import inspect
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import pytest
import typer

import textassay
from tests.conftest import ROOT, material
from tests.laws import LAWS, corpus
from textassay.cli.app import app
from textassay.cli.main import run
from textassay.metrics import registry
from textassay.metrics.registry import Request
from textassay.models.choose import OPENED, TRAINED

DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generate: Any = _load()
PAGES: dict[str, str] = generate.pages()
COMMANDS: dict[str, Any] = generate.all_commands(typer.main.get_command(app))
METRICS: list[registry.Metric] = generate.declared_metrics()


def by_name(metric: registry.Metric) -> str:
    return metric.name


@pytest.mark.parametrize("metric", METRICS, ids=by_name)
def test_every_metric_has_a_page(metric: registry.Metric) -> None:
    page = PAGES[f"metrics/{metric.name}.md"]
    assert f"`{metric.name}`" in PAGES["metrics/index.md"]
    assert metric.summary in page
    assert "Misleading" in page, "the docstring must say when the metric misleads"
    assert generate.CITATIONS[metric.paper] in page, "src/textassay/metrics/papers.toml needs the full citation"
    assert all(f"| `{option}` |" in page for option in metric.options)
    assert metric.interval in (None, *generate.INTERVALS), "docs/generate.py must describe the method"
    assert metric.test in (None, *generate.TESTS), "docs/generate.py must describe the method"
    assert all(reason in page for reason in (metric.why_no_interval, metric.why_no_test))


def test_every_citation_is_used() -> None:
    assert set(generate.CITATIONS) == {metric.paper for metric in METRICS}


def undocumented(commands: dict[str, Any], pages: dict[str, str]) -> list[str]:
    """Commands without a page or a help text, and parameters without a row or a help text."""
    found = []
    for name, command in commands.items():
        page = pages.get(f"commands/{generate.slug(name)}.md", "")
        found += [] if page and command.help else [name]
        for parameter in generate.parameters(command):
            is_option = parameter.param_type_name == "option"
            names = parameter.opts if is_option else [generate.shown_name(parameter)]
            if not parameter.help or not all(f"`{n}`" in page for n in names):
                found.append(f"{name} {names[0]}")
    return found


def test_every_command_and_option_is_documented() -> None:
    assert COMMANDS
    assert undocumented(COMMANDS, PAGES) == []
    assert all(f"`textassay {name}`" in PAGES["commands/index.md"] for name in COMMANDS)
    assert "`--version`" in PAGES["commands/index.md"]


def test_an_undocumented_option_is_caught() -> None:
    made_up, group = typer.Typer(), typer.Typer()
    made_up.add_typer(group, name="group")

    @group.command()
    def inner(size: Annotated[int, typer.Option()] = 3, seed: Annotated[int, typer.Option(help="A seed.")] = 0) -> None:
        """Do something."""

    @made_up.command()
    def silent() -> None:
        pass

    commands = generate.all_commands(typer.main.get_command(made_up))
    pages = {f"commands/{generate.slug(n)}.md": generate.command_page(n, c) for n, c in commands.items()}
    assert set(commands) == {"silent", "group inner"}
    assert sorted(undocumented(commands, pages)) == ["group inner --size", "silent"]


def test_the_readme_is_short_and_names_commands_that_exist() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    tables = re.findall(r"(?:^\|.*\n)+", readme, flags=re.MULTILINE)
    assert all(table.count("\n") < 20 for table in tables), "long tables belong into the documentation"
    named = set(re.findall(r"`textassay ([a-z]+(?: [a-z]+)?)[ `]", readme))
    assert named
    groups = {name.split()[0] for name in COMMANDS}
    assert {name for name in named if name not in COMMANDS and name.split()[0] not in groups} == set()


def test_the_index_pages_list_every_command_and_metric() -> None:
    assert all(f"[`textassay {name}`]" in PAGES["commands/index.md"] for name in COMMANDS)
    assert all(f"[`{metric.name}`]" in PAGES["metrics/index.md"] for metric in METRICS)


@pytest.mark.parametrize("name", sorted(generate.public_functions()))
def test_every_public_function_is_documented(name: str) -> None:
    """In the form of numpydoc, with every parameter."""
    function = generate.public_functions()[name]
    documented = inspect.getdoc(function) or ""
    assert "Returns\n-------\n" in documented
    (parameters,) = re.findall(r"^Parameters\n-+\n(.*?)(?:^\w+\n-+$|\Z)", documented, flags=re.MULTILINE | re.DOTALL)
    terms = re.findall(r"^(\w[\w, ]*?)(?: :.*)?$", parameters, flags=re.MULTILINE)
    assert {term for line in terms for term in line.split(", ")} == set(inspect.signature(function).parameters)
    assert f"## {name}\n" in PAGES["functions.md"]


def linked(page: str, text: str) -> set[str]:
    """The pages that a page links to."""
    targets = re.findall(r"(?<!!)\[[^\]]*\]\((?!https?:)([^)#]+)", text)
    folder = (ROOT / "docs" / page).parent
    found = {(folder / target).resolve() for target in targets if target.endswith(".md")}
    docs = (ROOT / "docs").resolve()
    return {path.relative_to(docs).as_posix() for path in found if path.is_relative_to(docs)}


def test_every_page_is_two_clicks_from_the_home_page() -> None:
    docs = ROOT / "docs"
    texts = {path.relative_to(docs).as_posix(): path.read_text("utf-8") for path in docs.rglob("*.md")} | PAGES
    first = linked("index.md", texts["index.md"])
    second = {page for near in first for page in linked(near, texts[near])}
    assert set(texts) - {"index.md"} - first - second == set()


def shell_lines() -> Iterator[tuple[str, list[str]]]:
    """Every line in the documents' shell blocks that begins with `textassay`, and its document."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in DOCUMENTS} | PAGES
    for name, text in texts.items():
        for block in re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL):
            yield from ((name, shlex.split(line)) for line in block.splitlines() if line.startswith("textassay "))


def test_commands_in_the_documents_exist() -> None:
    lines = list(shell_lines())
    assert len(lines) > len(METRICS) // 2
    for where, (_, *words) in lines:
        name = words[0] if words[0] in COMMANDS else " ".join(words[:2])
        # `digest SHARD...` is `digest make SHARD...`.
        name = "digest make" if words[0] == "digest" and name not in COMMANDS else name
        known = {option for parameter in COMMANDS[name].params for option in parameter.opts}
        assert {word for word in words if word.startswith("-") and word != "-"} <= known, where


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"(?<!!)\[[^\]]*\]\((?!https?:)([^)#]+)", path.read_text(encoding="utf-8"))
    generated = {(ROOT / "docs" / page).resolve() for page in PAGES}
    missing = [t for t in targets if not (path.parent / t).exists() and (path.parent / t).resolve() not in generated]
    assert missing == []


WITH_EXAMPLES = [path for path in DOCUMENTS if ">>> " in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.name)
def test_examples_run(path: Path) -> None:
    outcome = doctest.testfile(str(path), module_relative=False)
    assert outcome.attempted > 1
    assert outcome.failed == 0


def test_the_tutorial_can_be_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its script makes the files, and its commands print what it shows of their answers."""
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    script, config = (re.findall(rf"```{kind}\n(.*?)```", text, flags=re.DOTALL)[0] for kind in ("python", "toml"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "112")
    exec(script, {})
    lines = [line for block in re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL) for line in block.splitlines()]
    shown = re.findall(r"```text\n(.*?)```", text, flags=re.DOTALL)
    assert [line.split()[1] for line in lines] == ["describe", "compare", "compare", "run", "compare"]
    (tmp_path / "textassay.toml").write_text(config, encoding="utf-8")
    # Fewer exchanges than the tutorial's, and no encoder that may not be installed.
    fast = ["--quick", "--encoder", "lsa"]
    codes = {"--max-separable": 1, "run release": 1, "fixed.jsonl": 3}
    for line, expected in zip(lines, [*shown[:3], "", shown[3]], strict=True):
        code = run([*shlex.split(line)[1:], *(fast if "describe" not in line else [])])
        assert code == max((each for words, each in codes.items() if words in line), default=0)
        found = capsys.readouterr().out
        for words in ("new", "batch output", "paired by prompt", "“new” differs", "stock openings", "Gate: failed"):
            assert words in found or words not in expected
    assert "Gate: undecided" in found
    # Bounds and numbers of texts do not depend on the encoder.
    assert " ".join(shown[3].partition("\n\n")[2].split()) in " ".join(found.split())
    check_workflow(text, fast, monkeypatch, capsys)


def check_workflow(
    text: str, fast: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commands of the tutorial's workflow fail its build, and write what its steps collect."""
    yaml = pytest.importorskip("yaml", reason="needs PyYAML")
    (workflow,) = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", text, flags=re.DOTALL))
    steps = workflow["jobs"]["texts"]["steps"]
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    (command,) = (step["run"] for step in steps if step.get("run", "").startswith("textassay "))
    assert run([*shlex.split(command)[1:], *fast]) == 1
    assert "::error title=new%3A max-separable" in capsys.readouterr().out
    assert Path("summary.md").read_text(encoding="utf-8").startswith("# Gate: failed")
    (upload,) = (step["with"]["path"] for step in steps if "upload-artifact" in step.get("uses", ""))
    assert all(Path(path).stat().st_size for path in upload.split())


WORKFLOWS = [path for path in DOCUMENTS if "```yaml\n" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_and_hooks_in_the_documents_are_read(path: Path) -> None:
    """They are YAML of the form that GitHub Actions and pre-commit read, and their commands and options exist."""
    yaml = pytest.importorskip("yaml", reason="needs PyYAML")

    class Reader(yaml.SafeLoader):  # type: ignore[misc, name-defined, unused-ignore]
        """A reader that takes the functions of lm-evaluation-harness for their names."""

    Reader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))
    for block in re.findall(r"```yaml\n(.*?)```", path.read_text(encoding="utf-8"), flags=re.DOTALL):
        found = yaml.load(block, Loader=Reader)
        steps = [step for job in found.get("jobs", {}).values() for step in job["steps"]]
        hooks = [hook for repo in found.get("repos", ()) for hook in repo["hooks"]]
        assert all({"run", "uses"} & set(step) for step in steps)
        # YAML reads the key `on` as true.
        assert "jobs" not in found or found.keys() >= {"name", True}
        assert all({"id", "name", "entry", "language"} <= set(hook) for hook in hooks)
        commands = [each["run"] for each in steps if "run" in each] + [hook["entry"] for hook in hooks]
        for words in map(shlex.split, commands):
            if words[0] == "textassay":
                # The options of a study that is run are those of its command.
                name = "compare" if words[1] == "run" else words[1]
                known = {option for parameter in COMMANDS[name].params for option in parameter.opts}
                assert {word for word in words if word.startswith("-")} <= known


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_configurations_in_the_documents_are_valid(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"```toml\n(.*?)```", path.read_text(encoding="utf-8"), flags=re.DOTALL):
        if "[studies." in block:
            (tmp_path / "textassay.toml").write_text(block, encoding="utf-8")
            for name in re.findall(r"\[studies\.(\w+)\]", block):
                # A missing file is the only thing that is wrong.
                assert run(["run", name]) == 2
                assert "no such file" in capsys.readouterr().err


def test_the_page_of_generators_lists_every_kind() -> None:
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    assert [kind for kind in TRAINED if f"`{kind}`" not in page] == []
    assert [name for name in OPENED if f"`{name}:" not in page] == []


def test_the_api_page_lists_every_public_name() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    names = {name for name in textassay.__all__ if not name.startswith("_")}
    assert {name for name in names if not re.search(rf"\b{name}\b", page)} == set()


def test_files_named_in_contributing_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"## Where things are\n(.*?)\n## ", text, flags=re.DOTALL)
    named = re.findall(r"`(?:src/textassay/)?([a-z_]+/[a-z_/]+(?:\.py|/))`", table)
    assert len(named) > 15
    assert [name for name in named if not (ROOT / "src" / "textassay" / name).exists()] == []


def example_files() -> dict[str, str]:
    """The Python files in CONTRIBUTING.md by path."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return dict(re.findall(r"<!-- file: (\S+) -->\n```python\n(.*?)```", text, flags=re.DOTALL))


# A whole study with its page and its command has fewer lines than this, blank ones aside.
LINES_OF_A_STUDY = 70


def load_example(path: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run a file of CONTRIBUTING.md as the module that its path names; returns what it defines."""
    name = path.removeprefix("src/").removesuffix(".py").replace("/", ".")
    module = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    exec(example_files()[path], vars(module))
    return vars(module)


def test_the_metric_in_contributing_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_REGISTRY", dict(registry._REGISTRY))
    load_example("src/textassay/metrics/ngrams/hapax.py", monkeypatch)
    metric = registry.all_metrics()["hapax"]
    request = Request(metric, {"n": 1})
    kind: Any = metric.views[0]
    assert float(request.value(material(["a a b", "c b d"]).view(kind))) == 0.5
    assert "hapax" in generate.metric_page(metric)
    for law in LAWS:
        # A law that does not apply to this metric skips; the others must still run.
        with contextlib.suppress(pytest.skip.Exception):
            law(request)
    # It takes part in verdicts by its declaration alone.
    real, repeated = corpus(1, 60), corpus(2, 6) * 10
    verdict = textassay.compare(real, {"repeated": repeated}, metrics="hapax:n=2", n_resamples=99)["repeated"].verdict
    finding = verdict.find("less diverse")
    assert finding is not None
    assert finding.metric == "hapax-2"
    assert finding.value < finding.baseline
    assert "less diverse than the reference (hapax-2" in verdict.sentence


def test_the_study_in_contributing_works(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    study = load_example("src/textassay/studies/drift/study.py", monkeypatch)
    load_example("src/textassay/studies/drift/document.py", monkeypatch)
    command = load_example("src/textassay/cli/drift.py", monkeypatch)["drift"]
    earlier, later = [f"a cat sat at {n}" for n in range(30)], [f"a dog ran at {n}" for n in range(30)]
    found = study["drift"](earlier, {"later": later}, n_resamples=19)
    assert found["later"]["cnd"].p_value == 0.05
    assert study["Drift"].from_json(found.to_json()) == found
    assert list(found.to_frame()["candidate"]) == ["later"]
    assert repr(found) == "Drift(later: cnd-2)"
    assert "Closest: later." in str(found)
    assert "Closest: later." in found.to_html()
    lines = [line for path, text in example_files().items() if "drift" in path for line in text.splitlines() if line]
    assert len(lines) < LINES_OF_A_STUDY

    for name, texts in (("earlier.txt", earlier), ("later.txt", later)):
        (tmp_path / name).write_text("\n".join(texts))
    made_up = typer.Typer()
    made_up.command()(command)
    files = [str(tmp_path / name) for name in ("earlier.txt", "later.txt", "out.json")]
    made_up([*files[:2], "--json", files[2]], standalone_mode=False)
    assert study["Drift"].from_json((tmp_path / "out.json").read_text()).names == ("later",)
