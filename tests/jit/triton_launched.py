# SPDX-License-Identifier: Apache-2.0
"""Triton with its own launcher and PyTorch: on a GPU only."""
import sys

import torch
import triton
import triton.language as tl

REPAIRED = "repaired" in sys.argv


@triton.jit
def turn(p, q, REPAIRED: tl.constexpr):
    i = tl.arange(0, 1024)
    to = q if REPAIRED else p
    x = tl.load(p + i)  # SIDE
    tl.store(to + 1023 - i, x)  # SIDE


p = torch.arange(1024, dtype=torch.int32, device="cuda")
q = torch.zeros_like(p)
for _ in range(4):
    turn[(1 if REPAIRED else 8,)](p, q, REPAIRED)  # programs that race with each other
torch.cuda.synchronize()
assert not REPAIRED or q.tolist() == list(range(1023, -1, -1))
print("done")
