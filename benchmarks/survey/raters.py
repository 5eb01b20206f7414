"""Raters at work: each reads, answers and goes on, keeps a book of what was confirmed, and notices what is not right.

A rater who loses the server does what people do: waits a moment, then either reloads the page, which sends the form
again, or opens the personal link again and looks where he or she is.
"""

import asyncio
import random
import time
from collections import Counter
from dataclasses import dataclass, field

from browser import Browser, Line, Lost, Page, Reply, files_of, page_of

# Nobody reads and answers more than twice a second, and the limits of the page are made for that.
PACE = 0.5
_INTRODUCTION = '<input type="hidden" name="now" value="start">'


@dataclass(frozen=True)
class Answer:
    """What a rater answered: the task, the text that was shown with it, and the value."""

    task: int
    text: str
    value: int


@dataclass
class Run:
    """What all raters share: the way to the server, how long things took, and what went wrong.

    `bare` is the peer without a store, which always shows the same page.
    """

    line: Line
    bare: bool = False
    over: bool = False
    wrong: Counter[str] = field(default_factory=Counter)
    facts: Counter[str] = field(default_factory=Counter)
    answers: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    seconds: float = 0.0
    processor_seconds: float = 0.0

    def check(self, right: bool, otherwise: str) -> None:
        """Count what is not as it should be."""
        if not right:
            self.wrong[otherwise] += 1


@dataclass
class Rater:
    """One rater: a name, a personal link, the book of confirmed answers, and the answer that is on its way."""

    name: str
    path: str
    run: Run
    book: dict[int, Answer] = field(default_factory=dict)
    sent: Answer | None = None
    page: Page | None = None

    def __post_init__(self) -> None:
        self._rng = random.Random(self.name)
        self._window = Browser(self.run.line)

    async def rate(self) -> None:
        """Come, answer until the run is over, and look a last time."""
        await asyncio.sleep(self._rng.uniform(0, PACE))
        others = await self._arrive()
        await self._answer()
        while not self.run.over:
            began = time.perf_counter()
            await self._answer()
            await asyncio.sleep(max(0.0, PACE - (time.perf_counter() - began)))
        await self._open_link()
        for window in (self._window, *others):
            window.close()

    async def _arrive(self) -> list[Browser]:
        """The introduction, its style and script over connections of their own, as browsers do, and then Start."""
        files = files_of((await self._get(self._window, self.path)).body)
        others = [Browser(self.run.line) for _ in files]
        for other, path in zip(others, files, strict=True):
            loaded = await self._get(other, path)
            self.run.check(loaded.status == 200, f"style or script has status {loaded.status}")
        await self._look(f"{self.path}?now=start")
        return others

    async def _answer(self) -> None:
        """Answer the text that is shown, and look at the next one."""
        if self.page is None:
            await self._open_link()
            return
        self.sent = Answer(self.page.task, self.page.text, self._rng.choice(self.page.choices))
        reply = await self._send(self.page, self.sent)
        if reply is not None and (reply.status, reply.location) == (303, f"{self.path}?now=saved"):
            self.book[self.sent.task], self.sent, self.page = self.sent, None, None
            await self._look(reply.location)
            return
        if reply is not None:
            self.run.check(False, f"an answer got status {reply.status} {reply.location.partition('?')[2]}".rstrip())
        await self._open_link()

    async def _send(self, page: Page, answer: Answer) -> Reply | None:
        """Post the form; None where the rater has lost the server and will open the link again."""
        fields = {"key": page.key, "task": str(page.task), "rating": str(answer.value)}
        while True:
            try:
                reply, seconds = await self._window.post(f"{self.path}/answer", fields)
            except Lost as fault:
                await self._lost(fault)
                self.run.facts["answers not confirmed"] += 1
                if self._rng.random() < 0.5:
                    return None
                self.run.facts["of these sent again"] += 1
                continue
            self.run.answers.append(seconds)
            return reply

    async def _open_link(self) -> None:
        """Open the personal link; before the first answer it shows the introduction, and Start follows."""
        if not await self._look(self.path):
            await self._look(f"{self.path}?now=start")

    async def _look(self, path: str) -> bool:
        """Read a page, and see whether it is the one where this rater must be; False for the introduction."""
        reply = await self._get(self._window, path)
        page = page_of(reply.body)
        if reply.status == 200 and page is not None:
            self._settle(page)
            if not self.run.bare:
                self._compare(page)
            self.page = page
        elif reply.status == 200 and _INTRODUCTION in reply.body and not self.book:
            self._settle(self.page)
            return False
        else:
            self.run.check(False, f"a page has status {reply.status} and no text to rate")
            await asyncio.sleep(PACE)
        return True

    def _settle(self, shown: Page | None) -> None:
        """Of an answer that nobody confirmed, the page says whether it was recorded: it counts one more."""
        sent, self.sent = self.sent, None
        if sent is None:
            return
        if shown is not None and shown.task != sent.task and shown.done == len(self.book) + 1:
            self.run.facts["of these recorded, as the page showed"] += 1
            self.book[sent.task] = sent
        else:
            self.run.facts["of these not recorded, as the page showed"] += 1

    def _compare(self, page: Page) -> None:
        """Whether a page is the right one after what is in the book."""
        self.run.check(page.done == len(self.book), "a page does not count the answers that were confirmed")
        self.run.check(page.task not in self.book, "a text that was answered is shown again")
        if self.page is not None and self.page.task not in self.book:
            self.run.check(page == self.page, "a rater was moved from a text that was not answered")

    async def _get(self, window: Browser, path: str) -> Reply:
        """Ask until the server answers."""
        while True:
            try:
                reply, seconds = await window.get(path)
            except Lost as fault:
                await self._lost(fault)
                continue
            self.run.pages.append(seconds)
            return reply

    async def _lost(self, fault: Lost) -> None:
        """Losing the server is an error, unless it was killed; a person takes a moment to try again."""
        self.run.check(fault.excused, f"the connection was lost ({fault})")
        await asyncio.sleep(self._rng.uniform(0.1, 0.5))
