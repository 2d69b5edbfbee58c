# SPDX-License-Identifier: Apache-2.0
"""Which Python packages the programs of this folder need."""

PACKAGES = {
    "bindings": ["cuda.bindings", "numpy"],
    "numba_kernels": ["numba", "numba_cuda"],
    "cupy_kernels": ["cupy"],
            "triton_kernels": ["triton", "cuda.bindings", "numpy"],
    "triton_launched": ["triton", "torch"],
    "torch_compiled": ["torch", "triton"],
    "jax_kernels": ["jax"],
}
FIND = "import importlib.util, sys; sys.exit(not all(importlib.util.find_spec(name) for name in sys.argv[1:]))"
