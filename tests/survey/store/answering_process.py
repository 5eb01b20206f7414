"""A process in which raters answer as fast as possible; the tests kill it."""

import sys
import threading
from pathlib import Path

from textassay.survey.store.study_store import Store

_saying = threading.Lock()


def say(*words: object) -> None:
    """A line that has left the process once this returns."""
    with _saying:
        sys.stdout.write(" ".join(map(str, words)) + "\n")
        sys.stdout.flush()


def rate(store: Store, tokens: list[str]) -> None:
    """Say what is shown before it is answered, and what is recorded once the store has said so."""
    for token in tokens:
        rater = store.rater(token)
        assert rater is not None
        step = 0
        while (task := store.task(rater)) is not None:
            say("shown", rater.number, task.number, task.done)
            value = 1 + task.number % 6
            outcome = store.answer(rater, task.number, value)
            if outcome == "recorded":
                say("recorded", rater.number, task.number, value)
            step += 1
            if step % 9 == 0:
                # What is being taken back may or may not be there when the process dies.
                say("undoing", rater.number, task.number)
                store.undo(rater)
                say("undone", rater.number, task.number)


def main(path: Path, threads: int, tokens: list[str]) -> None:
    """Raters shared out among threads."""
    store = Store.open(path)
    say("open")
    workers = [threading.Thread(target=rate, args=(store, tokens[k::threads])) for k in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    store.close()
    say("done")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
