"""MiniLM as a graph of whole-number matrix products: every token has its own scale, so no text touches another.

A token's row is divided by a scale of its own, rounded to bytes, multiplied by integer weights and scaled back.
Attention, layer norms and sums stay in single precision. Texts in a batch have equally many tokens; nothing is padded.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from textassay.views.encoders.base import F32
from textassay.views.encoders.integer_weights import integer_weights
from textassay.views.encoders.onnx_graph import FUSED, Graph

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
