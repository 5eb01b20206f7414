"""Training of neural word models: batches, losses, the best weights, and a state from which a killed run continues.

All random numbers of a step come from the seed and the number of the step. Therefore a run that was stopped and
continued gives the same weights as one that was not, and on one thread the same seed gives the same weights.
"""

import hashlib
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from textassay.corpus.arrays import I64, Bool
from textassay.corpus.printable import shortened
from textassay.corpus.values import is_number, is_whole
from textassay.errors import InputError, Setting
from textassay.models.base import Progress
from textassay.models.storage import ModelFile, Tensors, damaged, read, save
from textassay.models.vocabulary import END
from textassay.work_files import locked

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Settings = TypeVar("_Settings", bound="DataclassInstance")

# Seconds between two saved states within an epoch; every epoch is saved, too.
SAVE_EVERY = 60.0
# Batches of similar lengths are cut from this many batches of random texts.
_POOL = 20


class TrainedNetwork(Protocol):
    """A network of torch modules that reads tokens and predicts the next one."""

    @property
    def modules(self) -> Any:
        """The torch module with all parameters."""
        ...

    def states(self, tokens: Any, /) -> Any:
        """The hidden states after each token: texts x tokens x size."""
        ...

    def output(self, states: Any, /) -> Any:
        """The logits of the next token for any number of hidden states."""
        ...


@dataclass(frozen=True)
class Plan:
    """How long and how fast to train. Gradients are scaled down to a norm of `clip`; 0 means never."""

    epochs: int
    batch_size: int
    learning_rate: float
    clip: float = 0.0
    seed: int = 0
    threads: int = 1

    def __post_init__(self) -> None:
        for name, most in (("epochs", 10**6), ("batch_size", 10**6), ("threads", 1024)):
            check_whole(name, getattr(self, name), most=most)
        if not (is_number(self.learning_rate) and 0 < self.learning_rate <= 10):
            raise InputError(Setting("learning_rate", self.learning_rate), "; wanted a number above 0, at most 10")
        if not (is_number(self.clip) and 0 <= self.clip < math.inf):
            raise InputError(Setting("clip", self.clip), "; wanted a finite number of 0 or more")

    def key(self) -> dict[str, Any]:
        """What determines the weights besides the texts; a longer training continues a shorter one."""
        return {name: value for name, value in asdict(self).items() if name not in ("epochs", "threads")}


def replaced(preset: _Settings, **changes: Any) -> _Settings:
    """A preset with those values replaced that are not None."""
    return replace(preset, **{name: value for name, value in changes.items() if value is not None})


def check_whole(name: str, value: object, least: int = 1, *, most: int | None = None) -> None:
    """Raise an error unless the value is a whole number of at least `least`, and of at most `most` if it is given."""
    if not (is_whole(value) and int(value) >= least):  # type: ignore[call-overload]
        raise InputError(Setting(name, value), f"; wanted a whole number of {least} or more")
    if most is not None and int(value) > most:  # type: ignore[call-overload]
        raise InputError(Setting(name, value), f"; wanted at most {most:,}")


class Shape(Protocol):
    """The shape of a network."""

    @property
    def n_weights(self) -> int: ...


AnyShape = TypeVar("AnyShape", bound=Shape)


def trainable(kind: str, shape: AnyShape) -> AnyShape:
    """The shape, or an error if this computer has no memory to train such a network: 16 bytes per weight.

    They are the weight, its gradient and the two moments of Adam.
    """
    most = _memory() // 16
    if shape.n_weights > most:
        seen = f"{kind}: a network of about {shape.n_weights:.1e} weights"
        raise InputError(f"{seen}; wanted at most {most:.1e}, which this computer has the memory to train")
    return shape


def _memory() -> int:
    """The bytes of memory of this computer."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # systems without sysconf, such as Windows
        return 2**36


@dataclass(frozen=True)
class Losses:
    """Mean negative log-probability per token after an epoch, in nats, on the training and the validation texts."""

    epoch: int
    training: float
    validation: float | None


@dataclass
class _State:
    """What a run has done: finished epochs and batches of the next one, its sums, and the best weights."""

    epoch: int = 0
    batch: int = 0
    loss: float = 0.0
    n_tokens: int = 0
    losses: list[Losses] = field(default_factory=list)
    best: dict[str, Any] = field(default_factory=dict)

    def epoch_is_best(self) -> bool:
        """True if the last epoch has the least validation loss, or if there is none to compare."""
        last = self.losses[-1].validation
        others = [past.validation for past in self.losses[:-1] if past.validation is not None]
        return last is None or not others or last < min(others)


@dataclass(frozen=True)
class Run:
    """A training run: network and optimiser, the rows of token ids of its texts, and where its state is saved.

    A row is a text from `BEGIN` to `END`. Without validation rows the last epoch counts as the best.
    """

    network: TrainedNetwork
    rows: Sequence[I64]
    validation: Sequence[I64]
    plan: Plan
    settings: Mapping[str, Any]
    checkpoint: str | os.PathLike[str] | None = None
    progress: Progress | None = None


def fit(run: Run) -> tuple[Losses, ...]:
    """Train the network of a run, give it the weights of the best epoch, and return the losses of all epochs.

    On Ctrl-C the state is saved after the current step, and `KeyboardInterrupt` is raised.
    """
    import torch

    optimiser = torch.optim.Adam(run.network.modules.parameters(), lr=run.plan.learning_rate)
    key = _key(run)
    with locked(run.checkpoint), n_threads(run.plan.threads), deferred_interrupt() as interrupted:
        state = _restored(run, optimiser, key)
        saved = time.monotonic()
        while state.epoch < run.plan.epochs:
            batches = epoch_batches(run.rows, run.plan, state.epoch)
            while state.batch < len(batches):
                _step(run, optimiser, state, batches[state.batch])
                _report(run, state, len(batches))
                if interrupted() or (run.checkpoint and time.monotonic() - saved > SAVE_EVERY):
                    _save(run, optimiser, state, key)
                    saved = time.monotonic()
                if interrupted():
                    raise KeyboardInterrupt
            _finish_epoch(run, state)
            _save(run, optimiser, state, key)
        run.network.modules.load_state_dict(state.best, strict=True)
    run.network.modules.eval()
    return tuple(state.losses)


def epoch_batches(rows: Sequence[I64], plan: Plan, epoch: int) -> list[I64]:
    """The texts of each batch of an epoch in random order; texts of a batch have similar lengths."""
    rng = np.random.default_rng(seed_of(plan.seed, "order", epoch))
    lengths = np.array([len(row) for row in rows])
    order = rng.permutation(len(rows))
    batches = []
    for start in range(0, len(order), _POOL * plan.batch_size):
        pool = order[start : start + _POOL * plan.batch_size]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += [pool[index : index + plan.batch_size] for index in range(0, len(pool), plan.batch_size)]
    return [batches[index] for index in rng.permutation(len(batches))]


def padded(rows: Sequence[I64]) -> tuple[I64, Bool]:
    """Rows as one matrix, filled up with `END`, and which entries of it belong to a row.

    >>> padded([np.array([0, 5, 1]), np.array([0, 1])])[0].tolist()
    [[0, 5, 1], [0, 1, 1]]
    """
    lengths = np.array([len(row) for row in rows])
    inside = np.arange(lengths.max()) < lengths[:, None]
    matrix = np.full(inside.shape, END)
    matrix[inside] = np.concatenate(rows)
    return matrix, inside


def mean_loss(network: TrainedNetwork, rows: Sequence[I64], batch_size: int) -> float:
    """The mean negative log-probability per token of these rows, in nats."""
    import torch

    network.modules.eval()
    order = np.argsort([len(row) for row in rows], kind="stable")
    total, n_tokens = 0.0, 0
    with torch.inference_mode():
        for start in range(0, len(order), batch_size):
            loss, count = summed_loss(network, [rows[index] for index in order[start : start + batch_size]])
            total, n_tokens = total + float(loss), n_tokens + count
    return total / n_tokens


def summed_loss(network: TrainedNetwork, rows: Sequence[I64]) -> tuple[Any, int]:
    """The sum of the negative log-probabilities of all tokens after the first of each row, and their number."""
    import torch

    matrix, inside = padded(rows)
    tokens, mask = torch.from_numpy(matrix), torch.from_numpy(inside[:, 1:])
    states = network.states(tokens[:, :-1])[mask]
    targets = tokens[:, 1:][mask]
    return torch.nn.functional.cross_entropy(network.output(states), targets, reduction="sum"), len(targets)


def _step(run: Run, optimiser: Any, state: _State, batch: I64) -> None:
    import torch

    modules = run.network.modules
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_of(run.plan.seed, "dropout", state.epoch, state.batch))
        modules.train()
        loss, n_tokens = summed_loss(run.network, [run.rows[index] for index in batch])
        optimiser.zero_grad(set_to_none=True)
        (loss / n_tokens).backward()
        if run.plan.clip:
            torch.nn.utils.clip_grad_norm_(modules.parameters(), run.plan.clip)
        optimiser.step()
    state.loss += loss.item()
    state.n_tokens += n_tokens
    state.batch += 1
    if not math.isfinite(state.loss):
        wrong = f"training: the loss is {loss.item()} in epoch {state.epoch + 1}, batch {state.batch}"
        raise InputError(f"{wrong}; wanted a finite one (use a smaller ", Setting("learning_rate"), ")")


def _finish_epoch(run: Run, state: _State) -> None:
    validation = mean_loss(run.network, run.validation, run.plan.batch_size) if len(run.validation) else None
    state.losses.append(Losses(state.epoch + 1, state.loss / state.n_tokens, validation))
    if state.epoch_is_best():
        state.best = {name: value.clone() for name, value in run.network.modules.state_dict().items()}
    state.epoch, state.batch, state.loss, state.n_tokens = state.epoch + 1, 0, 0.0, 0


def _report(run: Run, state: _State, n_batches: int) -> None:
    if run.progress is None:
        return
    what = f"epoch {state.epoch + 1} of {run.plan.epochs}, loss {state.loss / state.n_tokens:.3f}"
    if state.losses and (validation := state.losses[-1].validation) is not None:
        what += f", validation {validation:.3f}"
    run.progress(what, state.epoch * n_batches + state.batch, run.plan.epochs * n_batches)


@dataclass(frozen=True)
class SavedState:
    """The state of a run as the content of a model file of its own kind."""

    kind: str
    settings: dict[str, Any]
    arrays: Tensors

    def config(self) -> dict[str, Any]:
        """The settings of the file."""
        return self.settings

    def tensors(self) -> Tensors:
        """The arrays of the file."""
        return self.arrays


_SLOTS = ("step", "exp_avg", "exp_avg_sq")


def _key(run: Run) -> dict[str, Any]:
    """What a saved state must have in common with a run that continues it."""
    texts = {"texts": rows_digest(run.rows), "validation": rows_digest(run.validation)}
    return {**run.settings, **run.plan.key(), **texts}


def rows_digest(rows: Sequence[I64]) -> str:
    """A digest of the token ids of texts."""
    content = np.concatenate([np.zeros(0, np.int64), *rows]).tobytes()
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def _save(run: Run, optimiser: Any, state: _State, key: dict[str, Any]) -> None:
    if run.checkpoint is None:
        return
    modules = run.network.modules
    arrays = {**module_arrays("now", modules, optimiser)}
    arrays |= {f"best.{name}": value.numpy() for name, value in state.best.items()}
    numbers = {"epoch": state.epoch, "batch": state.batch, "loss": state.loss, "n_tokens": state.n_tokens}
    losses = [asdict(past) for past in state.losses]
    save(SavedState("training", {"key": key, **numbers, "losses": losses}, arrays), run.checkpoint)


def module_arrays(label: str, modules: Any, optimiser: Any) -> Tensors:
    """The weights of a module and the state of its optimiser, by names that begin with a label."""
    arrays = {f"{label}.{name}": value.numpy() for name, value in modules.state_dict().items()}
    for name, parameter in modules.named_parameters():
        for slot in _SLOTS:
            # Parameters that no step has changed have no state.
            if parameter in optimiser.state:
                arrays[f"{label}.{slot}.{name}"] = np.asarray(optimiser.state[parameter][slot])
    return arrays


def load_module(label: str, modules: Any, optimiser: Any, file: ModelFile) -> None:
    """Set the weights of a module and the state of its optimiser to those of a file."""
    found = part_of(file, label)
    slots = {slot: [name for name in found if name.startswith(f"{slot}.")] for slot in _SLOTS}
    values = {slot: {name.removeprefix(f"{slot}."): found.pop(name) for name in names} for slot, names in slots.items()}
    modules.load_state_dict(found, strict=True)
    for name, parameter in modules.named_parameters():
        if name in values["step"]:
            optimiser.state[parameter] = {slot: values[slot][name] for slot in _SLOTS}


def part_of(file: ModelFile, label: str) -> dict[str, Any]:
    """The tensors of a file whose names begin with a label, without it."""
    import torch

    names = [name for name in file.tensors if name.startswith(f"{label}.")]
    return {name.removeprefix(f"{label}."): torch.from_numpy(file.tensors[name].copy()) for name in names}


def _restored(run: Run, optimiser: Any, key: dict[str, Any]) -> _State:
    """The saved state of the run, loaded into network and optimiser, or the state before the first step."""
    file = saved_state(run.checkpoint, "training", key)
    if file is None:
        return _State()
    with damage_named(file):
        load_module("now", run.network.modules, optimiser, file)
        numbers = {name: file.setting(name, int) for name in ("epoch", "batch", "n_tokens")}
        losses = [Losses(**past) for past in file.setting("losses", list)]
        return _State(**numbers, loss=file.setting("loss", float), losses=losses, best=part_of(file, "best"))


def saved_state(checkpoint: str | os.PathLike[str] | None, kind: str, key: dict[str, Any]) -> ModelFile | None:
    """The saved state of a run, None if there is none, or an error if it is that of another run."""
    if checkpoint is None or not os.path.exists(checkpoint):
        return None
    file = read(checkpoint, kind=kind)
    saved = file.setting("key", dict)
    other = [name for name in {**saved, **key} if saved.get(name) != key.get(name)]
    if other:
        seen = ", ".join(f"{name}: {saved.get(name)!r} there, {key.get(name)!r} here" for name in other[:3])
        wanted = "wanted the same texts and options, or another file"
        raise InputError(f"{file.where}: the state of another training ({shortened(seen, 160)}); {wanted}")
    return file


@contextmanager
def damage_named(file: ModelFile) -> Iterator[None]:
    """Turn what torch raises for weights that do not fit into an error that names the file."""
    try:
        yield
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError, OverflowError, MemoryError) as error:
        raise damaged(file.where, shortened(" ".join(str(error).split()), 160)) from None


def initialised(seed: int, build: Callable[[], Any]) -> Any:
    """What `build` returns, with random weights that depend on the seed only."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_of(seed, "weights"))
        return build()


def seed_of(seed: int, *keys: str | int) -> int:
    """A seed of 63 bits for this purpose."""
    digest = hashlib.blake2b(repr((seed, *keys)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


@contextmanager
def n_threads(wanted: int) -> Iterator[None]:
    """Run torch on this number of threads. Several threads beside another busy process are slower than one."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(wanted)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def deferred_interrupt() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed, to stop between two steps; pressed again, it interrupts at once."""
    seen: list[int] = []

    def note(number: int, _frame: object) -> None:
        if seen:
            raise KeyboardInterrupt
        seen.append(number)

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(seen)
    finally:
        signal.signal(signal.SIGINT, before)
