"""The study and the servers of the benchmark: real commands in processes of their own, and a bare peer."""

import asyncio
import csv
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

COMMAND = (sys.executable, "-m", "textassay", "survey")
# What must come through every page and file as it is.
_ODD = ("<b>bold</b>", "R&D", '"quoted"', "naïve", "don't", "1 < 2", "日本", "=SUM(1)")
_START = 60.0
_NOT_EPHEMERAL = range(20_000, 32_000)


@dataclass(frozen=True)
class Study:
    """A study's file, the names and paths of its raters, and the path of its admin page."""

    path: Path
    raters: dict[str, str]
    admin: str


def new_study(folder: Path, *, items: int, raters: int) -> Study:
    """A study of pairs with a context each, of which nobody runs out."""
    rng, path = random.Random(0), folder / "study.db"
    words = [f"word{number}" for number in range(500)]
    with open(folder / "items.csv", "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(["item", "source", "text", "context", "log_prob"])
        for number in range(items):
            text = f"{rng.choice(_ODD)} {' '.join(rng.choices(words, k=9))} no. {number}"
            if number % 2 == 0:
                context = " ".join(rng.choices(words, k=120))
            out.writerow([f"i{number}", ("human", "model")[number % 2], text, context, -number / 10])
    said = _run(
        *("create", str(path), "--items", str(folder / "items.csv"), "--ratings", str(raters)),
        *("--items-per-rater", str(items), "--checks", "6", "--raters", str(raters)),
        *("--links", str(folder / "links.csv")),
    )
    with open(folder / "links.csv", encoding="utf-8", newline="") as file:
        paths = {row["rater"]: urlsplit(row["link"]).path for row in csv.DictReader(file)}
    admin = re.search(r"/admin/[A-Za-z0-9_-]+", said)
    assert admin is not None
    assert len(paths) == raters
    return Study(path, paths, admin[0])


def is_item(text: str) -> bool:
    """Whether a text is one of the items, and no attention check."""
    return re.search(r" no\. [0-9]+$", text) is not None


def _run(*arguments: str) -> str:
    done = subprocess.run([*COMMAND, *arguments], check=False, capture_output=True, text=True, encoding="utf-8")
    if done.returncode != 0:
        raise RuntimeError(f"survey {arguments[0]}: {done.stderr.strip()[-500:]}")
    return done.stdout


def free_port() -> int:
    """A port that nobody listens on now, and that no connection is given while a killed server is away."""
    for port in random.sample(_NOT_EPHEMERAL, 100):
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port
    raise RuntimeError("no free port")


class Server:
    """A process that listens on a port. What it says on standard error goes to a file: it should be empty."""

    def __init__(self, command: list[str], port: int, complaints: Path) -> None:
        self._command, self._port, self.complaints = command, port, complaints
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> float:
        """Start it, and wait until it takes connections; the seconds that took."""
        began = time.perf_counter()
        with open(self.complaints, "ab") as file:
            self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=file)
        while time.perf_counter() - began < _START:
            if self._process.poll() is not None:
                break
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self._port)
            except OSError:
                await asyncio.sleep(0.02)
                continue
            writer.close()
            return time.perf_counter() - began
        self.kill()
        raise RuntimeError(f"the server did not start: {self.complaints.read_text(encoding='utf-8')[-2000:]}")

    def kill(self) -> None:
        """End it without any warning, as `kill -9` does."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """Ask it to end; its exit code."""
        return self._end(signal.SIGTERM)

    def peak_memory(self) -> float:
        """Most MB that it has held so far; NaN where the system does not tell."""
        assert self._process is not None
        try:
            status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        except OSError:
            return float("nan")
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024

    def processor_seconds(self) -> float:
        """Processor time that it has used so far, which does not depend on what else runs here; NaN where not told."""
        assert self._process is not None
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        except OSError:
            return float("nan")
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _end(self, number: signal.Signals) -> int:
        if self._process is None:
            return 0
        if self._process.poll() is not None:
            return self._process.returncode
        self._process.send_signal(number)
        return self._process.wait(timeout=30)


@asynccontextmanager
async def serving(server: Server) -> AsyncIterator[Server]:
    """A server that runs, and that is not left behind whatever happens."""
    await server.start()
    try:
        yield server
    finally:
        server.kill()


def real_server(study: Study, port: int) -> Server:
    """`textassay survey serve`."""
    command = [*COMMAND, "serve", str(study.path), "--port", str(port)]
    return Server(command, port, study.path.with_suffix(".stderr"))


def bare_server(page: Path, port: int) -> Server:
    """Starlette without a store, under the same server with the same settings."""
    return Server([sys.executable, __file__, str(page), str(port)], port, page.with_suffix(".stderr"))


def serve_bare(page: bytes, port: int) -> None:
    """Answer each form with 303, and each request for a page with this one."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, RedirectResponse, Response
    from starlette.routing import Route

    def show(_: Request) -> Response:
        return HTMLResponse(page)

    async def answer(request: Request) -> Response:
        await request.body()
        return RedirectResponse(f"/r/{request.path_params['token']}?now=saved", 303)

    routes = [
        Route("/r/{token}", show),
        Route("/r/{token}/answer", answer, methods=["POST"]),
        Route("/static/{name}", show),
    ]
    uvicorn.run(
        Starlette(routes=routes),
        port=port,
        http="h11",
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_level="warning",
        access_log=False,
        backlog=1024,
        timeout_keep_alive=30,
    )


if __name__ == "__main__":
    serve_bare(Path(sys.argv[1]).read_bytes(), int(sys.argv[2]))
