"""The Trainer of transformers. It has no moving average of the weights."""

import tempfile
import warnings

import torch.nn.functional as F
from cases import LEARNING_RATE, LOG_EVERY, MAX_NORM, WEIGHT_DECAY, Case
from torch import Tensor, nn
from torch.optim import AdamW
from torch.utils.data import Dataset, SequentialSampler, default_collate
from transformers import Trainer, TrainingArguments

warnings.filterwarnings("ignore", module="transformers")


class WithLoss(nn.Module):
    """What it asks of a model: that it takes a batch by name, and returns the loss."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: Tensor, labels: Tensor) -> dict[str, Tensor]:
        return {"loss": F.cross_entropy(self.model(inputs).float(), labels)}


class InOrder(Trainer):
    def _get_train_sampler(self, dataset=None) -> SequentialSampler:
        return SequentialSampler(self.train_dataset)


def collate(samples: list[tuple[Tensor, Tensor]]) -> dict[str, Tensor]:
    inputs, targets = default_collate(samples)
    return {"inputs": inputs, "labels": targets}


def train(case: Case, model: nn.Module, dataset: Dataset) -> None:
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            num_train_epochs=1,
            per_device_train_batch_size=case.model.batch_size,
            dataloader_drop_last=True,
            gradient_accumulation_steps=case.accumulated,
            max_grad_norm=MAX_NORM if case.clips else 0.0,
            bf16=case.bf16,
            lr_scheduler_type="constant",
            logging_strategy="steps" if case.logs else "no",
            logging_steps=LOG_EVERY,
            save_strategy="no",
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
            remove_unused_columns=False,
        )
        optimizer = AdamW(model.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
        trainer = InOrder(
            WithLoss(model), arguments, collate, dataset, optimizers=(optimizer, None)
        )
        trainer.train()
