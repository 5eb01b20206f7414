"""Names for NumPy arrays by their kind of number, used in all type annotations."""

import numpy as np
from numpy.typing import NDArray

Bool = NDArray[np.bool_]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
U8 = NDArray[np.uint8]
