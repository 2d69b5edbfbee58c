# SPDX-License-Identifier: Apache-2.0
"""JAX, on a GPU only: a Pallas kernel whose programs all write to one block (the twin: each to its own), and what XLA makes of an expression.
XLA calls ptxas, in whose place gpurace-ptxas is started."""
import sys

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

REPAIRED = "repaired" in sys.argv
PROGRAMS, BLOCK = 16, 128


def add_number(x_ref, o_ref):
    o_ref[...] = x_ref[...] + pl.program_id(0).astype(jnp.float32)


call = pl.pallas_call(add_number, out_shape=jax.ShapeDtypeStruct((PROGRAMS * BLOCK if REPAIRED else BLOCK,), jnp.float32), grid=(PROGRAMS,),
                      in_specs=[pl.BlockSpec((BLOCK,), lambda i: (0,))],
                      out_specs=pl.BlockSpec((BLOCK,), (lambda i: (i,)) if REPAIRED else (lambda i: (0,))))
x = jnp.arange(BLOCK, dtype=jnp.float32)
y = jax.jit(lambda v: jnp.tanh(call(v)) * 2)(x).block_until_ready()
assert not REPAIRED or jnp.allclose(y[BLOCK:2 * BLOCK], jnp.tanh(x + 1) * 2)
print("done")
