"""A slow run in a separate process, which the tests kill, run on a full disk, or start twice."""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from textassay.encoders.remembered import remember
from textassay.encoders.vector_store import open_store


@dataclass
class SlowEncoder:
    """Vectors from digests that depend slightly on the batch, like those of real encoders with padding."""

    dimension: int = 16
    name: str = "slow"
    seconds: float = 0.0
    trace: float = 0.0
    seen: list[str] = field(default_factory=list)

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        time.sleep(self.seconds)
        self.seen += texts
        rows = b"".join(blake2b(text.encode(), digest_size=self.dimension).digest() for text in texts)
        values = np.frombuffer(rows, np.uint8).reshape(len(texts), self.dimension).astype(np.float32)
        return values + np.float32(self.trace * (crc32("".join(texts).encode()) % 256))


def many_texts(number: int) -> list[str]:
    """Distinct texts of many lengths."""
    return [f"{'word ' * (place % 23)}{place * 7919 % number}" for place in range(number)]


def content(values: NDArray[np.float32]) -> str:
    """A digest of every bit of the vectors."""
    return blake2b(values.tobytes()).hexdigest()


def main(number: int, seconds: float, *, backwards: bool, most_bytes: int) -> None:
    """Print `step` after each chunk, then the result."""
    if most_bytes:
        import resource

        # Compiled modules would be cut off at the limit too, for all later processes.
        sys.dont_write_bytecode = True

        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    encoder = SlowEncoder(seconds=seconds, trace=0.125)
    texts = many_texts(number)

    def say(settled: int) -> None:
        sys.stdout.write(f"step {settled}\n")
        sys.stdout.flush()

    given = texts[::-1] if backwards else texts
    found = remember(encoder, given, store=open_store(encoder), step=say)
    outcome = {"encoded": found.encoded, "reused": len(found.keys) - found.encoded, "notes": found.notes}
    sys.stdout.write(json.dumps(outcome | {"content": content(found.encode(texts))}) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), backwards=sys.argv[3] == "backwards", most_bytes=int(sys.argv[4]))
