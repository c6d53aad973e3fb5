"""Lightning: its Trainer, with what it offers for each option and nothing else."""

import logging
import tempfile
import warnings

import lightning as L
import torch.nn.functional as F
from cases import EMA_DECAY, LEARNING_RATE, LOG_EVERY, MAX_NORM, WEIGHT_DECAY, Case
from lightning.pytorch.callbacks import EMAWeightAveraging
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.optim import AdamW
from torch.utils.data import Dataset

logging.getLogger("lightning").setLevel(logging.ERROR)
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore", module="lightning")


class Module(L.LightningModule):
    def __init__(self, model: nn.Module, logs: bool) -> None:
        super().__init__()
        self.model, self.logs = model, logs

    def training_step(self, batch, index):
        inputs, targets = batch
        loss = F.cross_entropy(self.model(inputs).float(), targets)
        if self.logs:
            self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return AdamW(self.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)


def train(case: Case, model: nn.Module, dataset: Dataset) -> None:
    with tempfile.TemporaryDirectory() as folder:
        trainer = L.Trainer(
            accelerator="cpu",
            max_epochs=1,
            precision="bf16-mixed" if case.bf16 else "32-true",
            accumulate_grad_batches=case.accumulated,
            gradient_clip_val=MAX_NORM if case.clips else None,
            callbacks=[EMAWeightAveraging(decay=EMA_DECAY)] if case.ema else None,
            logger=CSVLogger(folder) if case.logs else False,
            log_every_n_steps=LOG_EVERY,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            default_root_dir=folder,
        )
        trainer.fit(Module(model, case.logs), case.loader(dataset))
