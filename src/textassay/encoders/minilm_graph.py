"""The ONNX graph of MiniLM with 8-bit integer weights.

The row of a token is divided by its scale, rounded to bytes, multiplied by integer weights and scaled back. Attention,
layer norms and sums stay in single precision. All texts of a batch have the same number of tokens; nothing is padded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F32


class IntegerWeights(NamedTuple):
    """`values * scales` is the matrix, up to rounding."""

    values: NDArray[np.int8]
    scales: F32


def integer_weights(weights: F32) -> IntegerWeights:
    """Round a matrix, an even number of inputs by outputs, to signed bytes.

    Processors with AVX2 but without VNNI multiply unsigned by signed bytes two inputs at a time and add the two
    products in 16 bits, which silently saturate at 32,767. Weights of 7 bits would be safe for all inputs but less
    accurate. A weaker condition is sufficient: the two weights of one output for inputs 2k and 2k + 1 may add up to
    128 if they have the same sign, since 255 times 128 fits. The scale of an output is therefore set by its largest
    such sum: most weights keep nearly 8 bits, and all processors compute the same integers.

    >>> integer_weights(np.array([[3.0, 1.0], [1.0, -4.0]], np.float32)).values.tolist()
    [[95, 32], [32, -127]]
    """
    pairs = weights.reshape(len(weights) // 2, 2, -1)
    largest = np.maximum(np.clip(pairs, 0, None).sum(axis=1), -np.clip(pairs, None, 0).sum(axis=1)).max(axis=0)
    scales = np.where(largest > 0, largest / np.float32(127), np.float32(1))
    return IntegerWeights(np.rint(weights / scales).astype(np.int8), scales)


_OPSET, _FORMAT = 17, 8
# Operators of onnxruntime that are not in the standard.
FUSED = "com.microsoft"


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes and constants in the order they were added; values have consecutive names."""

    _nodes: list[Any] = field(default_factory=list)
    _constants: list[Any] = field(default_factory=list)

    def constant(self, value: Any, /) -> str:
        """An array, or a NumPy scalar, that is part of the model."""
        from onnx import numpy_helper

        name = f"constant{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(value).reshape(np.shape(value)), name))
        return name

    def add(self, operator: str, *inputs: str, domain: str = "", **settings: Any) -> str:
        """A node with one output; an input named "" is left out."""
        from onnx import helper

        name = f"value{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [name], domain=domain, **settings))
        return name

    def shape(self, value: Sequence[int], /) -> str:
        """A constant for operators with sizes as inputs."""
        sizes: NDArray[np.int64] = np.array(value, np.int64)
        return self.constant(sizes)

    def model(self, name: str, shape: Sequence[str | int], /, *, output: str) -> bytes:
        """The model from an input of this name and shape (strings for variable sizes) to an output."""
        from onnx import TensorProto, helper

        graph = helper.make_graph(
            self._nodes,
            "textassay",
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["rows", "columns"])],
            self._constants,
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(FUSED, 1)]
        whole = helper.make_model(graph, opset_imports=opsets, ir_version=_FORMAT)
        made: bytes = whole.SerializeToString()
        return made


WIDTH, _HEADS, _LAYERS, _EPSILON = 384, 12, 6, 1e-12
WORDS = "words"
WORD_TABLE = "embeddings.word_embeddings.weight"

# Three numbers of MiniLM's hidden states are far larger than all others for every text (up to 30, the others below 8)
# and would reduce the precision of the others. They are divided by 4 before rounding, their weights multiplied by 4.
# Found on COCO captions; another choice would only change the accuracy.
_LARGE, _SHRINK = (99, 157, 223), 4
# GELU is never below -0.17: 35 of 255 steps are below zero, which is enough if a row's scale is at least 1.07 / 220.
_BELOW, _ABOVE, _LEAST = 35, 220, 1.07


class _Rows(NamedTuple):
    """Rows of bytes: the values, the byte that means zero, and the scale of each row."""

    values: str
    zero: str
    scales: str


@dataclass(frozen=True)
class _Sizes:
    """Values shared by all layers: array sizes, and the bytes that mean zero, as a scalar and one per row."""

    texts: str
    tokens: str
    flat: str
    column: str
    middle: tuple[str, str]
    low: tuple[str, str]


def minilm_graph(weights: Mapping[str, F32]) -> bytes:
    """The model with these BERT weights: from word vectors (texts by tokens by width) to vectors of length 1.

    Words are looked up outside of the model, because their table is large and would be copied several times.
    """
    graph = Graph()
    sizes = _sizes(graph)
    states = _embedded(graph, weights, sizes)
    for layer in range(_LAYERS):
        prefix = f"encoder.layer.{layer}."
        own = {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}
        states = _feed_forward(graph, own, sizes, _attention(graph, own, sizes, states))
    vectors = _pooled(graph, sizes, graph.add("Reshape", states, sizes.texts))
    return graph.model(WORDS, ["texts", "tokens", WIDTH], output=vectors)


def _sizes(graph: Graph) -> _Sizes:
    texts, flat = graph.add("Shape", WORDS), graph.shape([-1, WIDTH])
    rows = graph.add("Shape", graph.add("Reshape", WORDS, flat), end=1)

    def zeros(byte: int) -> tuple[str, str]:
        one = graph.constant(np.uint8(byte))
        return one, graph.add("Expand", one, rows)

    tokens = graph.add("Shape", WORDS, start=1, end=2)
    return _Sizes(texts, tokens, flat, graph.shape([-1, 1]), middle=zeros(128), low=zeros(_BELOW))


def _embedded(graph: Graph, weights: Mapping[str, F32], sizes: _Sizes) -> str:
    """One row per token: the sum of its word, position and type vectors; the type is the same for all tokens."""
    table = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    places = graph.add("Slice", graph.constant(table), graph.shape([0]), sizes.tokens, graph.shape([0]))
    rows = graph.add("Reshape", graph.add("Add", WORDS, places), sizes.flat)
    return _normalised(graph, weights, "embeddings.LayerNorm", rows)


def _attention(graph: Graph, own: Mapping[str, F32], sizes: _Sizes, states: str) -> str:
    parts = [f"attention.self.{name}" for name in ("query", "key", "value")]
    rows = _shrunk_rows(graph, sizes, states)
    inputs = [
        graph.add("Reshape", _product(graph, rows, own[f"{part}.weight"].T * _grown()), sizes.texts) for part in parts
    ]
    bias = graph.constant(np.concatenate([own[f"{part}.bias"] for part in parts]))
    attended = graph.add("MultiHeadAttention", *inputs, bias, domain=FUSED, num_heads=_HEADS)
    rows = _even_rows(graph, sizes, graph.add("Reshape", attended, sizes.flat))
    return _added(graph, own, "attention.output", rows, states)


def _feed_forward(graph: Graph, own: Mapping[str, F32], sizes: _Sizes, states: str) -> str:
    rows = _shrunk_rows(graph, sizes, states)
    product = _product(graph, rows, own["intermediate.dense.weight"].T * _grown())
    # The tanh approximation: its error is at most 0.0005, a tenth of the rounding step that follows.
    active = graph.add("FastGelu", product, graph.constant(own["intermediate.dense.bias"]), domain=FUSED)
    return _added(graph, own, "output", _gelu_rows(graph, sizes, active), states)


def _added(graph: Graph, own: Mapping[str, F32], part: str, rows: _Rows, states: str) -> str:
    """A dense layer, added to the previous states and normalised."""
    product = _product(graph, rows, own[f"{part}.dense.weight"].T)
    # The fused operator for sum and norm takes several times as long as these three operators.
    moved = graph.add("Add", product, graph.constant(own[f"{part}.dense.bias"]))
    return _normalised(graph, own, f"{part}.LayerNorm", graph.add("Add", moved, states))


def _normalised(graph: Graph, weights: Mapping[str, F32], part: str, rows: str) -> str:
    scale, shift = (graph.constant(weights[f"{part}.{name}"]) for name in ("weight", "bias"))
    return graph.add("LayerNormalization", rows, scale, shift, axis=-1, epsilon=_EPSILON)


def _product(graph: Graph, rows: _Rows, weights: F32) -> str:
    whole = integer_weights(np.ascontiguousarray(weights))
    inputs = (graph.constant(whole.values), graph.constant(np.float32(1)), graph.constant(whole.scales), rows.zero)
    product = graph.add("MatMulIntegerToFloat", rows.values, *inputs, domain=FUSED)
    return graph.add("Mul", product, rows.scales)


def _grown() -> F32:
    """The factors for the weights of large inputs."""
    factors = np.ones((WIDTH, 1), np.float32)
    factors[list(_LARGE)] = _SHRINK
    return factors


def _shrunk_rows(graph: Graph, sizes: _Sizes, states: str) -> _Rows:
    return _even_rows(graph, sizes, graph.add("Mul", states, graph.constant(1 / _grown()[:, 0])))


def _even_rows(graph: Graph, sizes: _Sizes, states: str) -> _Rows:
    """The same number of steps below and above zero; a row of zeros has a positive scale."""
    largest = _row_maximum(graph, graph.add("Abs", states), least=1e-9)
    return _bytes(graph, sizes, states, graph.add("Mul", largest, graph.constant(np.float32(1 / 127))), sizes.middle)


def _gelu_rows(graph: Graph, sizes: _Sizes, states: str) -> _Rows:
    largest = _row_maximum(graph, states, least=_LEAST)
    return _bytes(graph, sizes, states, graph.add("Mul", largest, graph.constant(np.float32(1 / _ABOVE))), sizes.low)


def _row_maximum(graph: Graph, states: str, *, least: float) -> str:
    largest = graph.add("ReduceMax", states, axes=[1], keepdims=0)
    return graph.add("Max", largest, graph.constant(np.float32(least)))


def _bytes(graph: Graph, sizes: _Sizes, states: str, scales: str, zeros: tuple[str, str]) -> _Rows:
    zero, each = zeros
    values = graph.add("QuantizeLinear", states, scales, each, axis=0)
    return _Rows(values, zero, graph.add("Reshape", scales, sizes.column))


def _pooled(graph: Graph, sizes: _Sizes, states: str) -> str:
    # A product with ones, because the operator for means sums in another order if a batch has one text.
    row = graph.add("Concat", graph.shape([1]), sizes.tokens, axis=0)
    sums = graph.add("MatMul", graph.add("Expand", graph.constant(np.float32(1)), row), states)
    return graph.add("LpNormalization", graph.add("Reshape", sums, sizes.flat), axis=1, p=2)
