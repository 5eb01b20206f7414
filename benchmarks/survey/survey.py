"""The rating survey under load and in trouble: many raters at once, a server that is killed, others who read.

`python benchmarks/survey/survey.py` runs everything; `load`, `faults` and `watched` name single parts, and `--seconds`,
`--raters` and `--kills` make it shorter. The server is `textassay survey serve` in a process of its own, the raters are
200 in this one: real pages, kept connections, forms taken from the page, each rater as fast as the server answers but
not faster than two answers a second. Every answer that was confirmed is written down here and looked for in the study.

load: no error, nothing lost, doubled or changed, items in balance; speed beside a bare Starlette application that
answers the same forms without a store. faults: `kill -9` in the middle, ten times; after each restart every confirmed
answer must be there, and raters go on where they were; a rater without a text to rate is an error, so all of them have
texts left at the last kill. watched: `survey export`, `survey status` and the admin page
again and again while answers come in. Exit code 1 when anything is wrong. The study lies in the folder for temporary
files; on a disk in memory flushing costs nothing, and times say less.
"""

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from raters import PACE, Rater, Run
from servers import Server, Study, bare_server, free_port, new_study, real_server, serving
from verdicts import balance, beside_database, beside_export, soundness
from watchers import export, watch

from browser import Browser, Line

ITEMS = 2000


@asynccontextmanager
async def raters_at_work(run: Run, paths: dict[str, str]) -> AsyncIterator[list[Rater]]:
    """Raters who answer for as long as the block runs, and then finish what they are at."""
    raters, began = [Rater(name, path, run) for name, path in paths.items()], time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for rater in raters:
            group.create_task(rater.rate())
        yield raters
        run.over = True
    run.seconds = time.perf_counter() - began


async def settled(study: Study, server: Server, run: Run, raters: list[Rater]) -> Counter[str]:
    """All that can be wrong once raters have stopped: what they found themselves, the file, the export, the server."""
    ratings, checks = await export(study)
    print(f"  {sum(len(rater.book) for rater in raters):,} answers confirmed by {len(raters)} raters")
    for what, number in run.facts.items():
        print(f"  {number:,} {what}")
    said, unbalanced = balance(study.path)
    print(f"  {said}")
    wrong = beside_database(study.path, raters) + beside_export(ratings, checks, raters)
    idle = Counter({"raters who could not answer": sum(not rater.book for rater in raters)})
    return run.wrong + wrong + unbalanced + idle + ended(server) + soundness(study.path)


def ended(server: Server) -> Counter[str]:
    """Stop a server; it must end well and must have had nothing to complain about."""
    code = server.stop()
    said = server.complaints.read_text(encoding="utf-8").splitlines()
    for line in said[:20]:
        print(f"  server: {line}")
    return Counter({"lines of complaint by the server": len(said), f"exit code {code} of the server": int(code != 0)})


async def load(folder: Path, options: argparse.Namespace) -> Counter[str]:
    """A tenth of the raters for a while, which is what a quiet server is like, and then all at once."""
    wrong = Counter[str]()
    few = options.raters // 10
    for raters, seconds in ((few, options.seconds / 6), (options.raters, options.seconds)):
        if not raters:
            continue
        print(f"  {raters} raters for {seconds:g} s:")
        part = folder / f"of-{raters}"
        part.mkdir()
        wrong += await load_of(part, raters, seconds)
    return wrong


async def load_of(folder: Path, n_raters: int, seconds: float) -> Counter[str]:
    """So many raters at once, and the same again with the bare peer."""
    study = new_study(folder, items=ITEMS, raters=n_raters)
    run = Run(Line(free_port()))
    async with serving(real_server(study, run.line.port)) as server:
        raters = await busy(server, run, study, seconds)
        page, _ = await Browser(run.line).get(next(iter(study.raters.values())))
        memory = server.peak_memory()
        wrong = await settled(study, server, run, raters)
    peer = await peer_run(folder / "page.html", page.body, study, min(seconds, 15.0))
    speeds(run, peer, n_raters / PACE)
    print(f"  peak memory of the server {memory:.0f} MB")
    return wrong


async def busy(server: Server, run: Run, study: Study, seconds: float) -> list[Rater]:
    """Let all raters rate for so long, and take the server's processor time."""
    before = server.processor_seconds()
    async with raters_at_work(run, study.raters) as raters:
        await asyncio.sleep(seconds)
    run.processor_seconds = server.processor_seconds() - before
    return raters


async def peer_run(page: Path, body: str, study: Study, seconds: float) -> Run:
    """The same raters with an application that keeps nothing."""
    run = Run(Line(free_port()), bare=True)
    page.write_text(body, encoding="utf-8")
    async with serving(bare_server(page, run.line.port)) as server:
        await busy(server, run, study, seconds)
    if run.wrong:
        raise RuntimeError(f"the peer did not work: {dict(run.wrong)}")
    return run


def speeds(ours: Run, peer: Run, most: float) -> None:
    """Rates and times, beside the peer's."""
    rate, bare_rate = len(ours.answers) / ours.seconds, len(peer.answers) / peer.seconds
    requests = (len(ours.answers) + len(ours.pages)) / ours.seconds
    print(f"  {requests:.0f} requests a second, {rate:.0f} answers a second (raters give {most:.0f} at most)")
    print(f"  bare Starlette: {bare_rate:.0f} answers a second; ours {rate / bare_rate:.2f} of it")
    cost, bare_cost = (1000 * run.processor_seconds / len(run.answers) for run in (ours, peer))
    print(
        f"  {cost:.1f} ms of processor time for an answer and its page; {cost / bare_cost:.1f} times bare Starlette's"
    )
    for what, mine, theirs in (("answer", ours.answers, peer.answers), ("page", ours.pages, peer.pages)):
        (median, late), (bare_median, bare_late) = quantiles(mine), quantiles(theirs)
        print(
            f"  {what}: median {1000 * median:.1f} ms, 99th percentile {1000 * late:.1f} ms; "
            f"to bare Starlette {median / bare_median:.1f} and {late / bare_late:.1f} times"
        )
    quarter = max(1, len(ours.answers) // 4)
    growth = statistics.median(ours.answers[-quarter:]) / statistics.median(ours.answers[:quarter])
    print(f"  last quarter of the answers to the first: {growth:.2f} times the median")


def quantiles(times: list[float]) -> tuple[float, float]:
    """Median and 99th percentile."""
    ordered = sorted(times)
    return statistics.median(ordered), ordered[int(0.99 * len(ordered))]


async def faults(folder: Path, options: argparse.Namespace) -> Counter[str]:
    """Kill the server in the middle of answers, again and again, each time on the same file and port."""
    study = new_study(folder, items=ITEMS, raters=options.raters)
    run, rng, wrong = Run(Line(free_port())), random.Random(0), Counter[str]()
    starts: list[float] = []
    async with serving(real_server(study, run.line.port)) as server:
        async with raters_at_work(run, study.raters) as raters:
            # The last time it is asked to stop instead, which must lose nothing either.
            for end in (*[server.kill] * options.kills, server.stop):
                wrong += await some_answers(run, options.raters)
                await asyncio.sleep(options.seconds / 20 * rng.random())
                await some_on_their_way(raters)
                run.facts["answers on their way when the server ended"] += sum(bool(rater.sent) for rater in raters)
                run.line.kills, run.line.down = run.line.kills + 1, True
                end()
                starts.append(await server.start())
                # Nothing else happens in this process meanwhile: what is on its way is still marked as such.
                wrong += beside_database(study.path, raters)
                run.line.down = False
            wrong += await some_answers(run, options.raters)
        print(f"  killed {options.kills} times and stopped once, back after {statistics.median(starts):.1f} s (median)")
        return wrong + await settled(study, server, run, raters)


async def some_answers(run: Run, number: int) -> Counter[str]:
    """Wait until so many more answers are confirmed."""
    before, end = len(run.answers), time.perf_counter() + 120
    while len(run.answers) < before + number:
        if time.perf_counter() > end:
            return Counter({"times that raters did not go on": 1})
        await asyncio.sleep(0.02)
    return Counter()


async def some_on_their_way(raters: list[Rater]) -> None:
    """Wait until an answer has been sent and is not yet confirmed: that is when trouble does most harm."""
    while not any(rater.sent for rater in raters):
        await asyncio.sleep(0)
    # The server has the time that it takes to read a form, and now and then to write it.
    await asyncio.sleep(0.002)


async def watched(folder: Path, options: argparse.Namespace) -> Counter[str]:
    """Others read all the time: the commands in processes of their own, and the admin page."""
    study = new_study(folder, items=ITEMS, raters=options.raters)
    run = Run(Line(free_port()))
    async with serving(real_server(study, run.line.port)) as server:
        async with raters_at_work(run, study.raters) as raters:
            await watch(study, run, raters, seconds=options.seconds / 4)
        return await settled(study, server, run, raters)


PARTS = {"load": load, "faults": faults, "watched": watched}


def asked_for() -> argparse.Namespace:
    """What to run."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one of {', '.join(PARTS)}; all without")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long raters rate under load")
    parser.add_argument("--raters", type=int, default=200, help="how many at once")
    parser.add_argument("--kills", type=int, default=10, help="how often the server is killed")
    parser.add_argument("--smoke", action="store_true", help="few raters for a few seconds")
    options = parser.parse_args()
    if options.smoke:
        shrink(options)
    if unknown := set(options.parts) - PARTS.keys():
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    return options


def shrink(options: argparse.Namespace) -> None:
    """Sizes of a run that only shows that everything still works."""
    global ITEMS
    ITEMS, options.seconds, options.raters, options.kills = 200, 1.0, 5, 2


def main() -> None:
    """All parts; what was wrong is said at the end of each."""
    options, bad = asked_for(), False
    for name in options.parts or PARTS:
        print(f"{name}: {options.raters} raters, {ITEMS:,} items")
        with tempfile.TemporaryDirectory() as folder:
            wrong = asyncio.run(PARTS[name](Path(folder), options))
        for what, number in (+wrong).items():
            print(f"  WRONG, {number:,} times: {what}")
        print(f"  {'not right' if +wrong else 'all right'}", flush=True)
        bad = bad or bool(+wrong)
    sys.exit(int(bad))


if __name__ == "__main__":
    main()
