"""pytorch-accelerated: its Trainer, with the callbacks that print taken away."""

import tempfile
from pathlib import Path

from accelerate import Accelerator
from cases import EMA_DECAY, LEARNING_RATE, LOG_EVERY, MAX_NORM, WEIGHT_DECAY, Case
from pytorch_accelerated.callbacks import ModelEmaCallback, TrainerCallback
from pytorch_accelerated.trainer import Trainer
from torch import nn
from torch.optim import AdamW
from torch.utils.data import Dataset


class PrintLoss(TrainerCallback):
    def __init__(self) -> None:
        self.steps = 0

    def on_train_step_end(self, trainer, batch, batch_output, **named) -> None:
        self.steps += 1
        if self.steps % LOG_EVERY == 0:
            print(f"step {self.steps} | loss {batch_output['loss'].item():.4f}", flush=True)


def train(case: Case, model: nn.Module, dataset: Dataset) -> None:
    class OurTrainer(Trainer):
        def _create_accelerator(self) -> Accelerator:
            return Accelerator(cpu=True, mixed_precision="bf16" if case.bf16 else "no")

        def _clip_gradients(self) -> None:  # by norm, as everywhere else; its own clips values
            self._accelerator.clip_grad_norm_(self.model.parameters(), MAX_NORM)

    with tempfile.TemporaryDirectory() as folder:
        callbacks: list[TrainerCallback] = [PrintLoss()] if case.logs else []
        if case.ema:
            path = str(Path(folder, "ema.pt"))
            callbacks.append(ModelEmaCallback(EMA_DECAY, False, save_path=path))
        optimizer = AdamW(model.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
        trainer = OurTrainer(model, nn.CrossEntropyLoss(), optimizer, callbacks=callbacks)
        trainer.train(
            dataset,
            num_epochs=1,
            per_device_batch_size=case.model.batch_size,
            gradient_accumulation_steps=case.accumulated,
            gradient_clip_value=MAX_NORM if case.clips else None,
            train_dataloader_kwargs={"shuffle": False, "drop_last": True, "num_workers": 0},
        )
