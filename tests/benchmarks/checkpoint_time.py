"""How long training stands still for a checkpoint, beside torch.save of the same state."""

import os
import statistics
import time
from pathlib import Path

import torch
from accelerate import Accelerator
from cases import LEARNING_RATE
from contenders.scaffold_project import load_project
from steps import leaves_no_trace
from torch import nn
from torch.optim import AdamW

WIDTH, LAYERS = 2048, 6  # 25 million parameters, of which AdamW keeps two more copies: 300 MB


def measure_checkpoints(folder: Path, rounds: int) -> dict[str, float]:
    """Seconds of a save, medians of rounds in turns.

    Ours is written aside and renamed, with digests, random numbers and
    the states of the loop; torch.save is timed as it is, and with its file flushed as well.
    """
    project = load_project("plain").train
    with leaves_no_trace():
        accelerator = Accelerator(cpu=True)
        model = nn.Sequential(*[nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS)])
        optimizer = AdamW(model.parameters(), LEARNING_RATE)
        model, optimizer = accelerator.prepare(model, optimizer)
        model(torch.randn(2, WIDTH)).sum().backward()
        optimizer.step()
        config = project.Config(output_dir=folder / "ours", keep_checkpoints=1)
        config.output_dir.mkdir()
        loss = project.RunningLoss(accelerator)
        progress = project.Progress()
        checkpoints = project.Checkpoints(accelerator, config, progress, {"train_loss": loss})

        def save_ours() -> None:
            progress.step += 1  # a step is saved once
            checkpoints.save()

        def save_plain(flushed: bool) -> None:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            with (folder / "plain.pt").open("wb") as file:
                torch.save(state, file)
                if flushed:
                    file.flush()
                    os.fsync(file.fileno())

        ways = {
            "scaffold": save_ours,
            "torch.save": lambda: save_plain(False),
            "torch.save, flushed": lambda: save_plain(True),
        }
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(rounds):
            for name, save in ways.items():
                os.sync()  # what others left to write is not theirs
                began = time.perf_counter()
                save()
                seconds[name].append(time.perf_counter() - began)
        saved = [path.name for path in config.output_dir.glob("checkpoint_*")]
        assert saved == [f"checkpoint_{rounds:08d}"], saved
    return {name: round(statistics.median(values), 3) for name, values in seconds.items()}
