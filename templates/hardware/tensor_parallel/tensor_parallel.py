#: file
"""Tensor parallelism: several processes share each layer, and each has a part of its weights.

A column-parallel layer is split by its outputs: each process has some attention heads, or some
features of an MLP. The next layer is row-parallel: it is split by its inputs, and the processes sum
their results. Everything else is replicated on all processes of a group.
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
from workarounds import skip_tensor_parallel_preparation

# how a layer is cut, with the names that transformers uses
CUTS = {
    "colwise": ColwiseParallel(),
    "colwise_gather_output": ColwiseParallel(output_layouts=Replicate()),
    "rowwise": RowwiseParallel(),
    "rowwise_split_input": RowwiseParallel(input_layouts=Replicate()),
    "embedding_rowwise": RowwiseParallel(input_layouts=Replicate()),
}
# an unsplit norm over the heads of one process: (batch, length, heads, width)
NORM_OF_HEADS = "replicated_with_grad_allreduce"


def processes_per_layer(accelerator: Accelerator) -> int:
    """How many processes share a layer: 1 on one device and on the CPU."""
    grid = accelerator.parallelism_config
    return grid.tp_size if grid else 1


def share_layers(accelerator: Accelerator, model: nn.Module) -> None:
    """Split the layers in model.cuts across processes. Call it before prepare().

    It ends the run if the processes can't share the layers.
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
    skip_tensor_parallel_preparation(accelerator)


def check_cuts(model: nn.Module, sharing: int) -> None:
    """End the run if the processes can't share the layers."""
    unknown = set(model.cuts.values()) - {*CUTS, NORM_OF_HEADS}
    if unknown or not model.cuts:
        ways = ", ".join(sorted(unknown)) or "no known way"
        raise SystemExit(
            f"The layers of this model are cut in {ways}, which tensor_parallel.py does not know: "
            "use another model, or remove tp_size from train.py."
        )
    if model.heads % sharing:
        raise SystemExit(
            f"{sharing} processes can't share {model.heads} attention heads equally: change "
            "tp_size in train.py, or the model."
        )


def plan_cuts(model: nn.Module) -> dict[str, ParallelStyle]:
    """How each layer is cut, by its name. Weights that several layers use stay whole."""
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

    `copies` holds the copies of weights that several modules use.
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
#: end file

#: slot functions without context_parallel
def gather_texts(accelerator: Accelerator, *values: Tensor) -> list[Tensor]:
    """The values of each text of an evaluation, without the padding of the last batch.

    Processes that share layers have the same texts, so each text counts once.
    """
    sharing = processes_per_layer(accelerator)
    # processes that share layers have neighboring ranks
    texts = [accelerator.gather(part).view(-1, sharing, len(part))[:, 0] for part in values]
    state = accelerator.gradient_state
    end = state.remainder if state.end_of_dataloader and state.remainder > 0 else None
    return [part.flatten()[:end] for part in texts]
