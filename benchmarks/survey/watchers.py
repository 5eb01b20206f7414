"""Those who read while raters answer: `survey export`, `survey status` and the admin page, and whether they see all."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from raters import Rater, Run
from servers import COMMAND, Study, is_item
from verdicts import exported, ratings_in_status

from browser import Browser, Lost

_MOST_SAID = 200
Look = Callable[[Study, Run, Sequence[Rater]], Awaitable[None]]


async def export(study: Study) -> tuple[str, str]:
    """Ratings and answers to attention checks, as the command writes them."""
    target, checks = study.path.with_suffix(".csv"), study.path.with_suffix(".checks.csv")
    await command("export", str(study.path), "--out", str(target), "--checks", str(checks))
    return _text(target), _text(checks)


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


async def command(*arguments: str) -> str:
    """What a command writes to standard output; one that fails is an error with what it said."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND, *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, complaint = await process.communicate()
    if process.returncode != 0:
        raise RuntimeError(complaint.decode(errors="replace").strip()[-_MOST_SAID:])
    return out.decode("utf-8")


async def watch(study: Study, run: Run, raters: Sequence[Rater], *, seconds: float) -> None:
    """Look again and again, three at once; what is seen must lie between what was there before and after."""
    end = time.perf_counter() + seconds
    async with asyncio.TaskGroup() as group:
        for look in (_look_at_export, _look_at_status, _look_at_admin):
            group.create_task(_again_and_again(look, study, run, raters, end))


async def _again_and_again(look: Look, study: Study, run: Run, raters: Sequence[Rater], end: float) -> None:
    while time.perf_counter() < end:
        try:
            await look(study, run, raters)
        except (RuntimeError, ValueError, KeyError, Lost) as fault:
            run.check(False, f"looking failed: {fault}")


def _given(raters: Sequence[Rater]) -> Counter[tuple[str, str, int]]:
    return Counter((rater.name, answer.text, answer.value) for rater in raters for answer in rater.book.values())


def _on_the_way(raters: Sequence[Rater]) -> Counter[tuple[str, str, int]]:
    sent = [(rater.name, rater.sent) for rater in raters if rater.sent is not None]
    return Counter((name, answer.text, answer.value) for name, answer in sent)


async def _look_at_export(study: Study, run: Run, raters: Sequence[Rater]) -> None:
    before = _given(raters)
    ratings, checks = await export(study)
    after = _given(raters) + _on_the_way(raters)
    found = Counter(exported(ratings)) + Counter(exported(checks))
    run.facts["exports"] += 1
    run.check(not before - found, "export: an answer that was confirmed before is missing")
    run.check(not found - after, "export: an answer that nobody gave")


async def _look_at_status(study: Study, run: Run, raters: Sequence[Rater]) -> None:
    before = _given(raters).total()
    found = ratings_in_status(await command("status", str(study.path), "--json", "-"))
    after = (_given(raters) + _on_the_way(raters)).total()
    run.facts["looks at status"] += 1
    run.check(before <= found <= after, "status: a wrong number of answers")


async def _look_at_admin(study: Study, run: Run, raters: Sequence[Rater]) -> None:
    """The page, its refresh, and its file, which must hold all that was confirmed before."""
    browser = Browser(run.line)
    for path in (study.admin, f"{study.admin}/data"):
        reply, _ = await browser.get(path)
        run.check(reply.status == 200, f"the admin page has status {reply.status}")
    before = _given(raters)
    reply, _ = await browser.get(f"{study.admin}/ratings.csv")
    after = _given(raters) + _on_the_way(raters)
    found = Counter(exported(reply.body))
    # Attention checks are not in this file.
    missing = [text for _, text, _ in before - found if is_item(text)]
    run.check(not missing, "admin's file: an answer that was confirmed before is missing")
    run.check(not found - after, "admin's file: an answer that nobody gave")
    browser.close()
    run.facts["looks at the admin page"] += 1
    await asyncio.sleep(1.0)
