"""The ONNX graph of MiniLM with 8-bit integer weights.

A token's row is divided by a scale of its own, rounded to bytes, multiplied by integer weights and scaled back.
Attention, layer norms and sums stay in single precision. Texts in a batch have equally many tokens; nothing is padded.
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
    products in 16 bits, where they silently stop at 32,767. Bytes of 7 bits would be safe whatever the inputs are, and
    cost accuracy. What is needed is less: the two weights that one output has for inputs 2k and 2k + 1 may add up to
    128 where they have the same sign, since 255 times 128 fits. So the scale of an output is set by its largest such
    sum, most weights keep nearly 8 bits, and all processors find the same whole numbers.

    >>> integer_weights(np.array([[3.0, 1.0], [1.0, -4.0]], np.float32)).values.tolist()
    [[95, 32], [32, -127]]
    """
    pairs = weights.reshape(len(weights) // 2, 2, -1)
    largest = np.maximum(np.clip(pairs, 0, None).sum(axis=1), -np.clip(pairs, None, 0).sum(axis=1)).max(axis=0)
    scales = np.where(largest > 0, largest / np.float32(127), np.float32(1))
    return IntegerWeights(np.rint(weights / scales).astype(np.int8), scales)


_OPSET, _FORMAT = 17, 8
# Operators of onnxruntime itself, beyond the standard.
FUSED = "com.microsoft"


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes and constants in the order they were added; values are known by name, and names are given in turn."""

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
        """A constant for operators that ask for sizes."""
        sizes: NDArray[np.int64] = np.array(value, np.int64)
        return self.constant(sizes)

    def model(self, name: str, shape: Sequence[str | int], /, *, output: str) -> bytes:
        """The model, from an array of numbers of that name and shape (words for sizes that vary) to an output."""
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

# Three numbers of MiniLM's hidden states are far larger than all others whatever the text is (up to 30, where the
# others stay below 8) and would take the bits of the rest. They are divided by 4 before rounding, their weights
# multiplied by 4. Found on COCO captions; another choice would change the accuracy, never what is computed.
_LARGE, _SHRINK = (99, 157, 223), 4
# GELU is never below -0.17: 35 steps of 255 lie below zero, enough for it where a row's scale is at least 1.07 / 220.
_BELOW, _ABOVE, _LEAST = 35, 220, 1.07


class _Rows(NamedTuple):
    """Rows of bytes: values, which byte means zero, and the scale of every row."""

    values: str
    zero: str
    scales: str


@dataclass(frozen=True)
class _Sizes:
    """Values that all layers share: sizes of arrays, and bytes that mean zero, one and a row each."""

    texts: str
    tokens: str
    flat: str
    column: str
    middle: tuple[str, str]
    low: tuple[str, str]


def minilm_graph(weights: Mapping[str, F32]) -> bytes:
    """The model of BERT weights by name: from word vectors (texts by tokens by width) to vectors of length 1.

    Words are looked up outside: their table is most of the model, and would be copied several times.
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
    """A row a token: its word and its place, the type of text being the same for all."""
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
    # By tanh: off by 0.0005 at most, where the steps of the rounding that follows are ten times as wide.
    active = graph.add("FastGelu", product, graph.constant(own["intermediate.dense.bias"]), domain=FUSED)
    return _added(graph, own, "output", _gelu_rows(graph, sizes, active), states)


def _added(graph: Graph, own: Mapping[str, F32], part: str, rows: _Rows, states: str) -> str:
    """A dense layer, on top of the states before, normalised."""
    product = _product(graph, rows, own[f"{part}.dense.weight"].T)
    # The fused operator for sum and norm takes several times as long as these three.
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
    """What the weights of large inputs are multiplied by."""
    factors = np.ones((WIDTH, 1), np.float32)
    factors[list(_LARGE)] = _SHRINK
    return factors


def _shrunk_rows(graph: Graph, sizes: _Sizes, states: str) -> _Rows:
    return _even_rows(graph, sizes, graph.add("Mul", states, graph.constant(1 / _grown()[:, 0])))


def _even_rows(graph: Graph, sizes: _Sizes, states: str) -> _Rows:
    """As many steps below zero as above; a row of zeros gets a scale, too."""
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
    # A product with ones, since the operator for means adds up in another order where a batch has one text.
    row = graph.add("Concat", graph.shape([1]), sizes.tokens, axis=0)
    sums = graph.add("MatMul", graph.add("Expand", graph.constant(np.float32(1)), row), states)
    return graph.add("LpNormalization", graph.add("Reshape", sums, sizes.flat), axis=1, p=2)
