"""Studies and their reports as files, each made when a test first asks for it: with several workers none makes all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

Study = TypeVar("Study")


@dataclass(frozen=True)
class Shelf(Generic[Study]):
    """How to make each study by name, how to render it, and where the files go."""

    makers: Mapping[str, Callable[[], Study]]
    render: Callable[[Study], str]
    folder: Path
    made: dict[str, Study] = field(default_factory=dict)

    def study(self, name: str) -> Study:
        """The study of this name."""
        if name not in self.made:
            self.made[name] = self.makers[name]()
        return self.made[name]

    def report(self, name: str) -> Path:
        """The file of its report."""
        path = self.folder / f"{name}.html"
        if not path.exists():
            path.write_text(self.render(self.study(name)), encoding="utf-8")
        return path
