"""Attention over texts that several processes share, with the CPU's kernel in place of a GPU's.

PyTorch hands keys and values around for the kernels of GPUs alone. Here the same code of PyTorch
does so for that of the CPU.
"""

import torch
from torch.distributed.tensor import DTensor, Shard
from torch.distributed.tensor.experimental._context_parallel import _attention as ring

FORWARD = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
BACKWARD = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default


def forward(_, arguments, settings):
    names = ("query", "key", "value")
    causal = arguments[4] if len(arguments) > 4 else settings.get("is_causal", False)
    return around(ring._templated_ring_attention, FORWARD, names, arguments, causal, settings)


def backward(_, arguments, settings):
    names = ("grad_out", "query", "key", "value", "out", "logsumexp")
    settings = {**settings, "grad_out_name": "grad_out"}
    pass_around = ring._templated_ring_attention_backward
    return around(pass_around, BACKWARD, names, arguments, arguments[7], settings)


def around(pass_around, kernel, names, arguments, causal, settings):
    """The parts of what PyTorch's function returns for the parts of tensors."""
    assert causal, "a mask, or dropout, would need another kernel"
    mesh = arguments[0].device_mesh
    parts = (part.to_local() for part in arguments[: len(names)])
    tensors = dict(zip(names, parts, strict=True))
    settings = {**settings, **tensors, "is_causal": causal, "dropout_p": 0.0}
    parts = pass_around(mesh.get_group(), 2, kernel, **settings)
    return tuple(DTensor.from_local(part, mesh, [Shard(2)], run_check=False) for part in parts)


ring.custom_ops |= {FORWARD: forward, BACKWARD: backward}
