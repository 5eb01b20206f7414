"""Small WordNet folders in the format of the real one, whole or damaged."""

from collections.abc import Mapping, Sequence
from pathlib import Path

PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
LICENCE = "  1 Some words on use.  \n  2 WordNet {version} Copyright 2011 by Some University.  \n"
SYNSETS: dict[str, list[list[str]]] = {
    "noun": [["car", "auto", "motor_car", "Auto-mobile"], ["ax", "axe"], ["axis", "Axis"], ["car", "coach"], ["bus"]],
    "verb": [["be", "exist"], ["run", "go"], ["go", "leave"]],
    "adj": [["galore(ip)", "plenty"], ["big", "large"], ["odd((x)", "even)"]],
    "adv": [["well", "good"]],
}
EXCEPTIONS = {
    "noun": "axes old\naxes ax axis\n",
    "verb": "is be\nwent go\n",
    "adj": "\n",
    "adv": "better well\n",
}


def write_wordnet(
    folder: Path, *, synsets: Mapping[str, Sequence[Sequence[str]]] = SYNSETS, version: str | None = "3.1"
) -> Path:
    """Write all files of a WordNet with these synsets by part of speech."""
    folder.mkdir(parents=True, exist_ok=True)
    licence = LICENCE.format(version=version) if version else ""
    for part, letter in PARTS.items():
        content, places = licence, dict[str, list[int]]()
        for words in synsets[part]:
            place = len(content)
            for word in words:
                places.setdefault(word.split("(")[0].lower(), []).append(place)
            fields = " ".join(f"{word} 0" for word in words)
            content += f'{place:08d} 03 {letter} {len(words):02x} {fields} 001 @ 00000000 n 0000 | a gloss; "car 0"  \n'
        (folder / f"data.{part}").write_text(content, encoding="utf-8", newline="\n")
        entries = [
            f"{word} {letter} {len(at)} 1 @ {len(at)} 0 {' '.join(f'{place:08d}' for place in at)}  \n"
            for word, at in sorted(places.items())
        ]
        (folder / f"index.{part}").write_text(licence + "".join(entries), encoding="utf-8", newline="\n")
        (folder / f"{part}.exc").write_text(EXCEPTIONS[part], encoding="utf-8", newline="\n")
    return folder
