#!/usr/bin/env python3
"""Writes python.safetensors with the safetensors package.

    pip install safetensors==0.8.0 numpy && python3 python_safetensors.py python.safetensors
"""
import sys

import numpy
from safetensors import TensorSpec, serialize_file

ARRAYS = {
    "f32": ("float32", numpy.array([[1.5, -2.0], [0.25, 1e-30]], "<f4")),
    "f64": ("float64", numpy.array(0.1, "<f8")),
    "f16": ("float16", numpy.array([0.5, -65504.0], "<f2")),
    # bfloat16 is the upper half of float32: 1.0 and the nearest to 3e38.
    "bf16": ("bfloat16", numpy.array([0x3F80, 0x7F62], "<u2")),
    "i64": ("int64", numpy.array([-1, 1 << 62], "<i8")),
    "i32": ("int32", numpy.array([-7], "<i4")),
    "u8": ("uint8", numpy.array([0, 255], "u1")),
    "bool": ("bool", numpy.array([True, False, True])),
}
serialize_file(
    {name: TensorSpec(dtype=kind, shape=array.shape, data_ptr=array.ctypes.data, data_len=array.nbytes)
     for name, (kind, array) in ARRAYS.items()},
    sys.argv[1], {"made_by": "the safetensors package"})
