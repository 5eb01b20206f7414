"""The package as a whole: imports point one way, the README's commands hold, versions are pinned, it starts light."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import textassay
from tests.conftest import ROOT

# From the bottom up: each part may import those before it. Parts in one tuple do not import each other.
LADDER = (
    ("errors", "version"),
    ("corpus",),
    ("work_files",),
    ("encoders",),
    ("distances", "models"),
    ("metrics",),
    ("engines",),
    ("digests",),
    ("inference",),
    ("document",),
    ("studies",),
    ("reproduce",),
    ("report",),
    ("survey",),
    ("adapters", "cli"),
)
ALLOWED = {
    part: {below for step in LADDER[:place] for below in step} for place, step in enumerate(LADDER) for part in step
}
# The two steps upwards: an outcome offers its own report, and `textassay.metrics.NAME` measures a metric.
EXCEPTIONS = {
    "studies/outcome.py: textassay.report.",
    "metrics/__init__.py: textassay.studies.single",
}

LOADED = "import sys; from textassay.cli.main import run; run(['--version']); print(*sys.modules)"


def imported(source: str, package: str) -> Iterator[tuple[int, str]]:
    """Line and full name of every import of a source file in this package, lazy and dynamic ones included."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*parents, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            yield from ((node.lineno, name) for name in _first_words(node))


def _first_words(call: ast.Call) -> Iterator[str]:
    for node in call.args[:1]:
        first = node.values[0] if isinstance(node, ast.JoinedStr) else node
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield first.value


def offences(source: str, part: str) -> list[str]:
    """Imports that a file of this part must not make, as `line: name`."""
    found = []
    for line, name in imported(source, f"textassay.{part}"):
        root, _, rest = name.partition(".")
        target = rest.partition(".")[0]
        if root == "textassay" and target not in {part, *ALLOWED[part]}:
            found.append(f"{line}: {name}")
    return found


def test_imports_point_one_way() -> None:
    package = ROOT / "src" / "textassay"
    parts = [path for path in package.iterdir() if (path / "__init__.py").is_file()]
    assert {path.name for path in parts} == set(ALLOWED) - {"errors", "version", "work_files"}
    found, excused = [], set()
    for path in (package / "work_files.py", *(file for part in parts for file in part.rglob("*.py"))):
        inside = path.relative_to(package)
        for offence in offences(path.read_text(encoding="utf-8"), inside.parts[0].removesuffix(".py")):
            known = f"{inside.as_posix()}:{offence.partition(':')[2]}"
            if known in EXCEPTIONS:
                excused.add(known)
            else:
                found.append(f"{inside}:{offence}")
    assert not found, "\n".join(found)
    assert excused == EXCEPTIONS


def test_no_file_takes_many_names_of_one_module_of_a_report() -> None:
    package = ROOT / "src" / "textassay"
    counts = {
        f"{file.relative_to(package)}: {node.module}": len(node.names)
        for file in package.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("textassay.report.")
    }
    assert len(counts) > 15
    assert {name: count for name, count in counts.items() if count > 12} == {}


@pytest.mark.parametrize(
    ("part", "source", "line"),
    [
        ("corpus", "import numpy\nfrom textassay.metrics.views import Material", 2),
        ("metrics", "def f():\n    import textassay.inference.measure", 2),
        ("encoders", "from ..metrics import bleu", 1),
        ("inference", "from importlib import import_module\nimport_module('textassay.studies')", 2),
        ("metrics", "import importlib\nimportlib.import_module(f'textassay.report.{1}')", 2),
        ("distances", "from textassay.models.base import Generator", 1),
        ("models", "from textassay import compare", 1),
        ("report", "import textassay.cli.app", 1),
    ],
)
def test_a_wrong_import_is_caught(part: str, source: str, line: int) -> None:
    (offence,) = offences(source, part)
    assert offence.startswith(f"{line}: textassay.")


@pytest.mark.parametrize(
    ("part", "source"),
    [
        ("corpus", "from textassay.version import __version__\nfrom . import errors"),
        ("studies", "from textassay.engines.base import Engine\nfrom textassay.models.ngrams import ngram"),
        ("cli", "from textassay.report.terminal import render\nfrom textassay import version"),
    ],
)
def test_a_right_import_is_not(part: str, source: str) -> None:
    assert offences(source, part) == []


def command(name: str) -> str:
    """A command of the README, by the marker above it."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (found,) = re.findall(rf"<!-- command: {name} -->\n```sh\n(.+)\n```", readme)
    return str(found)


@pytest.mark.parametrize(
    ("name", "last"), [("demo", ".venv/bin/textassay demo"), ("test", ".venv-dev/bin/pytest -n auto")]
)
def test_readme_commands_are_one_line_and_go_through_the_constraints(name: str, last: str) -> None:
    steps = command(name).split(" && ")
    installs = [step for step in steps if " install " in step]
    assert steps[0].startswith("python3 -m venv ")
    assert steps[-1] == last
    assert installs
    assert all("/bin/pip install -c constraints.txt " in step for step in installs)


def test_ci_runs_the_test_command_of_the_readme() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    shown = subprocess.run([script, "--test-command"], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == command("test")
    # The command is run through its variable; a second pytest in the script could differ from it.
    assert 'bash -euo pipefail -c "$tests"' in script.read_text(encoding="utf-8")
    assert "bin/pytest" not in script.read_text(encoding="utf-8")


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins() -> dict[str, str]:
    """Names and versions in constraints.txt; a line of any other form fails."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    found = {}
    for line in (line for line in lines if not line.startswith("#")):
        match = re.fullmatch(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.!+]+)", line)
        assert match, f"constraints.txt: {line!r}; wanted name==version"
        found[normal(match[1])] = match[2]
    return found


def test_constraints_are_sorted_and_exact() -> None:
    names = list(pins())
    assert names == sorted(names)
    assert "textassay" not in names


def test_no_line_of_the_changelog_occurs_twice() -> None:
    """Git merges the file by union, which may repeat lines, also under other releases."""
    lines = Counter(line for line in (ROOT / "CHANGELOG.md").read_text("utf-8").splitlines() if line.startswith("- "))
    assert [line for line, count in lines.items() if count > 1] == []


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    wanted += [
        *(name for extra in ("demo", "tokenizers", "embed", "fast", "survey") for name in extras[extra]),
        "pip",
        "mkdocs",
    ]
    names = {normal(re.split(r"[^A-Za-z0-9._-]", requirement)[0]) for requirement in wanted}
    assert names - set(pins()) == set()


def own_files(root: Path) -> Iterator[Path]:
    """Text files of the project: not of environments, caches or builds that lie in its folder."""
    for folder, names, files in os.walk(root):
        left_out = {n for n in names if n in {".git", "__pycache__", "site", "dist"} or n.endswith("_cache")}
        environments = {n for n in names if (Path(folder) / n / "pyvenv.cfg").is_file()}
        names[:] = sorted(set(names) - left_out - environments - {".hypothesis"})
        yield from (Path(folder) / name for name in files)


def registry_lines(root: Path) -> list[str]:
    """Lines that name a package registry or choose one; the words are put together here, this file is read as well."""
    words = ["py" + "pi.", "python" + "hosted.", "--index" + "-url", "--extra-index" + "-url", "--find" + "-links"]
    found = []
    for path in own_files(root):
        text = path.read_bytes().decode(errors="replace").lower()
        found += [f"{path.relative_to(root)}: {word}" for word in words if word in text]
    return found


def test_no_file_names_a_package_registry(tmp_path: Path) -> None:
    assert registry_lines(ROOT) == []
    (tmp_path / "setup.cfg").write_text("index = https://" + "py" + "pi." + "example/simple")
    assert len(registry_lines(tmp_path)) == 1


def test_version_needs_no_heavy_import() -> None:
    found = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True).stdout
    version, modules = found.splitlines()
    assert version == f"textassay {textassay.__version__}"
    assert "textassay.cli.main" in modules.split()
    assert not {"numpy", "pyarrow", "typer", "rich"} & set(modules.split())


def test_public_names_resolve() -> None:
    assert set(dir(textassay)) == set(textassay.__all__)
    for name in textassay.__all__:
        assert getattr(textassay, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        textassay.__getattr__("nothing")


FOLDERS = sorted({path.parent for part in ("src", "tests", "benchmarks") for path in (ROOT / part).rglob("*.py")})


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_a_folder_is_small_and_a_common_prefix_is_a_folder(folder: Path) -> None:
    """A reader finds a topic by its name: at most 18 files, and no four of them that share a first word."""
    names = [path.stem.removeprefix("test_") for path in folder.glob("*.py")]
    assert len(names) <= 18
    words = Counter(name.partition("_")[0] for name in names if "_" in name)
    assert [word for word, count in words.items() if count >= 4] == []
