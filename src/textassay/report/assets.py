"""What is written into a page as it stands: style sheets and scripts, and the hashes that let exactly them run."""

import base64
import hashlib
from importlib.resources import files

from markupsafe import Markup


def asset(*names: str) -> Markup:
    """The named files of the templates folder, one after the other."""
    folder = files("textassay.report").joinpath("templates")
    texts = [folder.joinpath(name).read_text(encoding="utf-8") for name in names]
    return Markup("\n".join(texts))  # noqa: S704


def policy(*, style: str, script: str) -> str:
    """A content security policy under which this style and this script run, and nothing is asked for."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
