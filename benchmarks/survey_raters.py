"""Raters at work: each reads, answers and goes on, keeps a book of what was confirmed, and notices what is not right.

A rater who loses the server does what people do: waits a moment, then either reloads the page, which sends the form
again, or opens the personal link again and looks where he or she is.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from survey_browser import LOST, Browser, Page, Reply, files_of, page_of

# Nobody reads and answers more than twice a second, and the limits of the page are made for that.
PACE = 0.5


@dataclass(frozen=True)
class Answer:
    """What a rater answered: the task, the text that was shown with it, and the value."""

    task: int
    text: str
    value: int


@dataclass
class Run:
    """What all raters share: the server's port and whether it was killed, how long things took, what went wrong."""

    port: int
    over: bool = False
    down: bool = False
    kills: int = 0
    wrong: Counter[str] = field(default_factory=Counter)
    facts: Counter[str] = field(default_factory=Counter)
    answers: list[tuple[float, float]] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)

    def check(self, right: bool, otherwise: str) -> None:
        """Count what is not as it should be."""
        if not right:
            self.wrong[otherwise] += 1


@dataclass
class Rater:
    """One rater: a name, a personal link, the book of confirmed answers, and the one that was sent last."""

    name: str
    path: str
    run: Run
    book: dict[int, Answer] = field(default_factory=dict)
    sent: Answer | None = None
    page: Page | None = None

    def __post_init__(self) -> None:
        self._rng = random.Random(self.name)
        self._browser = Browser(self.run.port)

    async def rate(self) -> None:
        """Come, answer until the run is over, and look a last time."""
        await asyncio.sleep(self._rng.uniform(0, PACE))
        await self._arrive()
        while not self.run.over:
            began = time.perf_counter()
            await self._answer()
            await asyncio.sleep(max(0.0, PACE - (time.perf_counter() - began)))
        await self._open_link()
        await self._browser.close()

    async def _arrive(self) -> None:
        """The introduction with its style and script, each over a connection of its own, as browsers do; then Start."""
        reply = await self._get(self.path)
        self.run.check(reply.status == 200, f"the introduction has status {reply.status}")
        others = [Browser(self.run.port) for _ in files_of(reply.body)]
        for other, path in zip(others, files_of(reply.body), strict=True):
            loaded = await self._until_there(lambda other=other, path=path: other.get(path))
            self.run.check(loaded.status == 200, f"style or script has status {loaded.status}")
        await self._look(f"{self.path}?now=start")

    async def _answer(self) -> None:
        """Answer the text that is shown, and look at the next one."""
        if self.page is None:
            await self._open_link()
            return
        self.sent = Answer(self.page.task, self.page.text, self._rng.choice(self.page.choices))
        reply = await self._send(self.page)
        if reply is None:
            await self._open_link()
        elif (reply.status, reply.location) == (303, f"{self.path}?now=saved"):
            self.book[self.sent.task] = self.sent
            self.sent = None
            self.page = None
            await self._look(reply.location)
        else:
            kind = reply.status if reply.status != 303 else "303 without 'saved'"
            self.run.check(False, f"an answer got status {kind}")
            await self._open_link()

    async def _send(self, page: Page) -> Reply | None:
        """Post the form; None where the rater has lost the server and will open the link again."""
        assert self.sent is not None
        fields = {"key": page.key, "task": str(page.task), "rating": str(self.sent.value)}
        while True:
            kills = self.run.kills
            try:
                reply, seconds = await self._browser.post(f"{self.path}/answer", fields)
            except LOST as fault:
                self._lost(fault, kills)
                self.run.facts["answers in doubt"] += 1
                await self._wait()
                if self._rng.random() < 0.5:
                    return None
                self.run.facts["sent again"] += 1
                continue
            self.run.answers.append((time.perf_counter(), seconds))
            return reply

    async def _open_link(self) -> None:
        """Open the personal link; before the first answer it shows the introduction, and Start follows."""
        await self._look(self.path if self.book or self.sent else f"{self.path}?now=start")
        if self.page is None and not self.book:
            await self._look(f"{self.path}?now=start")

    async def _look(self, path: str) -> None:
        """Read a page, and see whether it is the one where this rater must be."""
        reply = await self._get(path)
        page = page_of(reply.body) if reply.status == 200 else None
        if reply.status != 200:
            self.run.check(False, f"a page has status {reply.status}")
            await asyncio.sleep(PACE)
            return
        if page is None:
            self.run.check("<h1" in reply.body and not self.book, "a page without a text to rate")
            self._settle_unanswered()
            return
        self._settle(page)
        self.run.check(page.done == len(self.book), "a page does not count the answers that were confirmed")
        self.run.check(page.task not in self.book, "a text is shown again that was answered")
        if self.page is not None and self.page.task not in self.book:
            self.run.check(page == self.page, "a rater was moved from a text that is not answered")
        self.page = page

    def _settle(self, page: Page) -> None:
        """Of an answer that nobody confirmed, the page says whether it was recorded."""
        sent, self.sent = self.sent, None
        if sent is None:
            return
        if page.task == sent.task:
            self.run.facts["in doubt, not recorded"] += 1
        else:
            self.run.facts["in doubt, recorded"] += 1
            self.book[sent.task] = sent

    def _settle_unanswered(self) -> None:
        """The introduction: nothing has been recorded, so the answer in doubt was not either."""
        if self.sent is not None:
            self.run.facts["in doubt, not recorded"] += 1
            self.sent = None

    async def _get(self, path: str) -> Reply:
        began = len(self.run.pages)
        reply = await self._until_there(lambda: self._browser.get(path), self.run.pages)
        assert len(self.run.pages) >= began
        return reply

    async def _until_there(
        self, ask: Callable[[], Awaitable[tuple[Reply, float]]], times: list[float] | None = None
    ) -> Reply:
        """Ask again until the server answers."""
        while True:
            kills = self.run.kills
            try:
                reply, seconds = await ask()
            except LOST as fault:
                self._lost(fault, kills)
                await self._wait()
                continue
            if times is not None:
                times.append(seconds)
            return reply

    def _lost(self, fault: BaseException, kills: int) -> None:
        """Losing the server is no fault of it while it is killed."""
        self.run.check(self.run.down or self.run.kills != kills, f"the connection was lost ({type(fault).__name__})")

    async def _wait(self) -> None:
        await asyncio.sleep(self._rng.uniform(0.1, 0.5))
