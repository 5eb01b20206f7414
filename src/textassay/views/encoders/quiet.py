"""Quiet loading: no bars, notes or warnings of the model libraries on standard error."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the model libraries, and leave their settings as they were."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers.utils import logging as notes

        level, bars = notes.get_verbosity(), notes.is_progress_bar_enabled()
        sentences = logging.getLogger("sentence_transformers")
        before = sentences.level
        notes.set_verbosity_error()
        notes.disable_progress_bar()
        sentences.setLevel(logging.ERROR)
        try:
            yield
        finally:
            sentences.setLevel(before)
            notes.set_verbosity(level)
            if bars:
                notes.enable_progress_bar()
