# SPDX-License-Identifier: Apache-2.0
"""torch.compile of a small model, on a GPU only: Triton's kernels are checked. PyTorch's own kernels and cuBLAS's are machine code."""
import torch


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(64, 128), torch.nn.Linear(128, 8)

    def forward(self, x):
        return torch.softmax(self.second(torch.nn.functional.gelu(self.first(x))), dim=-1)


model = Small().cuda()
x = torch.randn(32, 64, device="cuda")
wanted = model(x)
got = torch.compile(model)(x)
assert torch.allclose(wanted, got, atol=1e-3), (wanted - got).abs().max()
print("done")
