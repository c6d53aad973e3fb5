"""The teacher for distillation: the model of another run."""

from pathlib import Path

import torch.nn.functional as F
from accelerate import Accelerator
from safetensors import SafetensorError
from safetensors.torch import load_model
from torch import Tensor, nn

from config import load_config
from model import build_model


def load_teacher(accelerator: Accelerator, config) -> nn.Module | None:
    """The model that the run in `config.teacher` trained, in evaluation mode. None without one."""
    if not config.teacher:
        return None
    folder = Path(config.teacher)
    weights = folder / "model.safetensors"
    if not weights.exists():
        raise SystemExit(f"{folder} has no model.safetensors: train the teacher first.")
    saved = load_config(folder)
    teacher = build_model(saved)
    try:
        load_model(teacher, weights)
    except (OSError, RuntimeError, SafetensorError) as error:
        raise SystemExit(f"{weights} does not fit the model of this project: {error}") from error
    return teacher.to(accelerator.device).eval().requires_grad_(False)


def distill(loss: Tensor, logits: Tensor, soft_targets: Tensor, config) -> Tensor:
    """The loss of a batch, with the part that comes from the teacher.

    Logits of both models have the shape (batch, classes). Dividing them by T makes the gradient
    smaller by T²; the loss is scaled up (Hinton et al. 2015, https://arxiv.org/abs/1503.02531).
    """
    if logits.shape != soft_targets.shape:
        raise SystemExit(
            f"The teacher {config.teacher} has {soft_targets.shape[1]} classes, and the model "
            f"{logits.shape[1]}: train the teacher with the same classes."
        )
    t = config.distillation_temperature
    student, teacher = F.log_softmax(logits / t, dim=1), F.log_softmax(soft_targets / t, dim=1)
    divergence = t**2 * F.kl_div(student, teacher, reduction="batchmean", log_target=True)
    return (1 - config.distillation_share) * loss + config.distillation_share * divergence
