"""Layers that several processes share: each computes with a part of their weights.

A layer that is cut by its outputs gives each process some heads of attention, or some numbers of an
MLP. The next one is cut by its inputs: what the processes make of theirs is added up. All else is
whole, and the same, in each process of a group.
"""

from collections import Counter
from fnmatch import fnmatch

from accelerate import Accelerator
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import (
    DTensor,
    Placement,
    Replicate,
    Shard,
    distribute_module,
    distribute_tensor,
)
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    ParallelStyle,
    RowwiseParallel,
    parallelize_module,
)

# how a layer is cut, by the names that transformers has for it
CUTS = {
    "colwise": ColwiseParallel(),
    "colwise_gather_output": ColwiseParallel(output_layouts=Replicate()),
    "rowwise": RowwiseParallel(),
    "rowwise_split_input": RowwiseParallel(input_layouts=Replicate()),
    "embedding_rowwise": RowwiseParallel(input_layouts=Replicate()),
}
# ... and for a norm that is whole, but gets the heads of its process: (batch, length, heads, width)
NORM_OF_HEADS = "replicated_with_grad_allreduce"


def processes_per_layer(accelerator: Accelerator) -> int:
    """How many processes share a layer. It is 1 on one device and on the CPU."""
    grid = accelerator.parallelism_config
    return grid.tp_size if grid else 1


def share_layers(accelerator: Accelerator, model: nn.Module) -> None:
    """Leave this process its part of the layers that model.cuts names, before prepare().

    Stops where the model can't be cut among so many processes.
    """
    sharing = processes_per_layer(accelerator)
    if sharing == 1:
        return
    check_cuts(model, sharing)
    mesh = accelerator.torch_device_mesh["tp"]
    modules = dict(model.named_modules())
    parallelize_module(model, mesh, plan_cuts(model))
    norms = [pattern for pattern, cut in model.cuts.items() if cut == NORM_OF_HEADS]
    copies: dict[nn.Parameter, nn.Parameter] = {}
    for name, module in modules.items():
        of_heads = any(fnmatch(name, pattern) for pattern in norms)
        keep_whole(module, mesh, Shard(2) if of_heads else Replicate(), copies)
    # nothing is left to prepare: Accelerate 1.15 asks for a class that transformers 5.23 lacks
    accelerator._prepare_tp = lambda *prepared: prepared


def check_cuts(model: nn.Module, sharing: int) -> None:
    """Stop if so many processes can't share the layers."""
    unknown = set(model.cuts.values()) - {*CUTS, NORM_OF_HEADS}
    if unknown or not model.cuts:
        ways = ", ".join(sorted(unknown)) or "no way that it names"
        raise SystemExit(
            f"The layers of this model are cut in {ways}, which tensor_parallel.py does not know: "
            "take another model, or leave tp_size out in train.py."
        )
    if model.heads % sharing:
        raise SystemExit(
            f"{model.heads} heads of attention can't be shared equally by {sharing} processes: "
            "change tp_size in train.py, or the model."
        )


def plan_cuts(model: nn.Module) -> dict[str, ParallelStyle]:
    """How each layer is cut, by its name. Weights that two layers use stay whole."""
    modules = dict(model.named_modules())
    uses = Counter(weight for part in modules.values() for weight in part.parameters(recurse=False))
    plan = {}
    for name, module in modules.items():
        cut = next((cut for pattern, cut in model.cuts.items() if fnmatch(name, pattern)), "")
        if cut in CUTS and all(uses[weight] == 1 for weight in module.parameters()):
            plan[name] = CUTS[cut]
    if not plan:
        raise SystemExit("model.cuts names no layer of this model: see __init__ in model.py.")
    return plan


def keep_whole(
    module: nn.Module,
    mesh: DeviceMesh,
    inputs: Placement,
    copies: dict[nn.Parameter, nn.Parameter],
) -> None:
    """Give all processes the module's own weights, unless they are cut.

    `copies` has what became of weights that two modules use.
    """
    weights = dict(module.named_parameters(recurse=False))
    if not weights or any(isinstance(weight, DTensor) for weight in weights.values()):
        return
    for name, weight in weights.items():
        if weight not in copies:
            copy = distribute_tensor(weight.data, mesh, [Replicate()])
            copies[weight] = nn.Parameter(copy, weight.requires_grad)
        setattr(module, name, copies[weight])

    def enter(_, arguments: tuple[Tensor, ...], mesh: DeviceMesh) -> tuple[DTensor, ...]:
        return tuple(DTensor.from_local(argument, mesh, [inputs]) for argument in arguments)

    def leave(_, output: DTensor, mesh: DeviceMesh) -> Tensor:
        return output.to_local()

    distribute_module(module, mesh, lambda *_: None, enter, leave)


#: slot functions


def as_whole(weight: Tensor) -> Tensor:
    """A weight that stayed whole, for use outside of its module."""
    return weight.to_local() if isinstance(weight, DTensor) else weight
