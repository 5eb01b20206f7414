"""A graph for onnxruntime under construction: constants and nodes by name, then the bytes of the whole."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
