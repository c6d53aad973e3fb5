"""What only a GPU can show, in two steps, because a machine with one may have little else.

`python tests/gpu.py render FOLDER` writes projects to a folder, where the tool is installed.
`python tests/gpu.py run FOLDER [LABEL ...]` trains them, where there is a GPU, and prints a line of
JSON for each check: `ok`, what was measured, and the end of the output of what failed.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

Answers = dict[str, Any]
WORKERS = int(os.environ.get("WORKERS", "8"))  # projects that train at the same time
DEVICE = os.environ.get("DEVICE", "cuda")  # "cpu" tries this script itself, where there is no GPU
STEPS = 20
CADENCE = ["--checkpoint-unit", "steps", "--checkpoint-every", "10", "--keep-checkpoints", "0"]
SHORT = ["--max-steps", str(STEPS), "--log-every", "5", *CADENCE]
BF16 = {"hardware.mixed_precision": "bf16"}
FP16 = {"hardware.mixed_precision": "fp16"}
EXACT = {"features.deterministic.enabled": True}
LORA = {"features.lora.enabled": True}
INDUCTOR = {"hardware.dynamo_backend": "inductor"}


def chat(task: str, name: str = "llama") -> Answers:
    """A pretrained language model from a folder beside the projects."""
    return {
        "project.task": task,
        f"{task}.model": "pretrained",
        f"{task}.model_name": f"../models/{name}",
    }


def list_projects() -> dict[str, Answers]:
    """The answers of each project, by its label."""
    from scaffold.answers.manifests import load_catalog

    found: dict[str, Answers] = {}
    for task in load_catalog().tasks:
        found[f"bf16 {task}"] = {"project.task": task, **BF16, **EXACT}
        found[f"fp16 {task}"] = {"project.task": task, **FP16}
    gpt, loading = {"project.task": "language_model"}, {"features.data_loading.enabled": True}
    fast = {
        f"features.{name}.enabled": True for name in ("tf32", "cudnn_benchmark", "channels_last")
    }
    found |= {
        "fast images": {**BF16, **fast, **loading, "training.num_workers": 2},
        "fused": {**BF16, "training.optimizer_kernels": "fused"},
        "plain": {},
        "compiled": INDUCTOR,
        "plain gpt": gpt,
        "compiled gpt": {**gpt, **INDUCTOR},
        "compiled gpt in bf16": {**gpt, **INDUCTOR, **BF16},
        "throughput": {
            **gpt,
            **BF16,
            "features.throughput.enabled": True,
            "features.throughput.utilization": "model_flops",
        },
        "profiler": {"features.profiler.enabled": True},
        "ema": {**BF16, "features.ema.enabled": True},
        "batch in parts": {"features.find_batch_size.enabled": True},
        "recomputed": {**gpt, **BF16, "features.activation_checkpointing.enabled": True},
        "split": {
            **gpt,
            "hardware.distributed_type": "MULTI_GPU",
            "hardware.num_processes": 2,
            "hardware.sharding": "fsdp",
        },
        "fp8": {**gpt, "hardware.mixed_precision": "fp8"},
        "lora": {**chat("sft"), **BF16, **LORA},
        "4 bits": {**chat("sft"), **BF16, **LORA, "features.lora.quantization": "nf4"},
        "liger": {**chat("sft"), **BF16, "features.liger.enabled": True},
        "no liger": {**chat("sft"), **BF16},
        "sdpa": {**chat("language_model"), **BF16, "features.attention.enabled": True},
    }
    return found


def render(folder: Path) -> None:
    from scaffold.answers.manifests import load_catalog
    from scaffold.answers.resolve import resolve
    from scaffold.errors import AnswerError
    from scaffold.render.project import render_project
    from support.files import write_files

    catalog, labels = load_catalog(), {}
    for label, given in list_projects().items():
        try:
            answers = resolve(catalog, {"project.name": "example", **given})
        except AnswerError as error:
            print(f"{label}: {error}")
            continue
        labels[label] = label.replace(" ", "_")
        write_files(folder / labels[label], render_project(catalog, answers))
    (folder / "projects.json").write_text(json.dumps(labels, indent=1))


MAKE_MODEL = """
import sys, torch
from pathlib import Path
from transformers import AutoConfig, AutoModelForCausalLM, RobertaTokenizer

texts = [path.read_text() for path in sorted(Path(torch.__file__).parent.glob("*.py"))[:9]]
tokenizer = RobertaTokenizer().train_new_from_iterator(texts, 300, show_progress=False)
torch.manual_seed(0)
ids = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("pad", "bos", "eos")}
config = AutoConfig.for_model(
    "llama", vocab_size=len(tokenizer), hidden_size=1024, intermediate_size=2816,
    num_hidden_layers=12, num_attention_heads=16, num_key_value_heads=4,
    max_position_embeddings=512, **ids,
)
AutoModelForCausalLM.from_config(config).bfloat16().save_pretrained(sys.argv[1])
tokenizer.save_pretrained(sys.argv[1])
"""
MEASURED = """
import json, runpy, sys, torch
if share := float(sys.argv.pop(1)):
    torch.cuda.set_per_process_memory_fraction(share)
sys.path.insert(0, ".")
sys.argv[0] = "train.py"
try:
    runpy.run_path("train.py", run_name="__main__")
finally:
    print("PEAK", torch.cuda.max_memory_allocated(), flush=True)
"""


class Failed(Exception):
    """A check that did not hold: says why."""


def train(project: Path, *flags: str, share: float = 0.0) -> str:
    """What train.py prints. `share` of the device's memory is all it may take; 0: no limit."""
    command = [sys.executable, "-c", MEASURED, str(share), *flags]
    return call(project, command)


def call(project: Path, command: list[str], **variables: str) -> str:
    env = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", **variables}
    done = subprocess.run(
        command, cwd=project, capture_output=True, text=True, env=env, timeout=400
    )
    if done.returncode:
        raise Failed((done.stdout[-300:] + done.stderr[-1500:]).strip())
    return done.stdout


def weights(project: Path, run: str) -> bytes:
    return (project / "runs" / run / "model.safetensors").read_bytes()


def losses(log: str) -> list[float]:
    return [float(value) for value in re.findall(r"^step .*?\bloss (\S+)", log, re.MULTILINE)]


def peak(log: str) -> int:
    """MiB of all tensors at most."""
    return int(re.findall(r"^PEAK (\d+)", log, re.MULTILINE)[-1]) >> 20


def is_on_gpu(log: str) -> None:
    if f" process(es) on {DEVICE} " not in log:
        raise Failed(f"not on {DEVICE}: {log[:300]}")


def resumes_to_the_bit(project: Path) -> dict[str, Any]:
    """With `deterministic`: two runs are the same, and a resumed one, too."""
    first = train(project, *SHORT, "--output-dir", "runs/one")
    is_on_gpu(first)
    train(project, *SHORT, "--output-dir", "runs/two")
    middle = "runs/one/checkpoint_00000010"
    resumed = train(project, "--resume", middle, "--output-dir", "runs/resumed")
    if f"resumed from {middle} at step 10" not in resumed:
        raise Failed(f"not resumed: {resumed[:500]}")
    same = {run: weights(project, run) == weights(project, "one") for run in ("two", "resumed")}
    if not all(same.values()):
        raise Failed(f"the same bits as in the first run: {same}")
    return {"losses": losses(first), "peak_mib": peak(first)}


def trains_in_fp16(project: Path) -> dict[str, Any]:
    """With steps that the scaler skips at first; and resumed with its scale."""
    first = train(project, *SHORT, "--output-dir", "runs/one")
    is_on_gpu(first)
    found = losses(first)
    if not found or not all(value == value and abs(value) < 1e4 for value in found):
        raise Failed(f"losses: {found}")
    resumed = train(
        project, "--resume", "runs/one/checkpoint_00000010", "--output-dir", "runs/resumed"
    )
    ends = [re.findall(r"^done .*", log, re.MULTILINE)[-1:] for log in (first, resumed)]
    return {"losses": found, "ends": ends}


def trains(project: Path) -> dict[str, Any]:
    start = time.perf_counter()
    log = train(project, *SHORT, "--output-dir", "runs/one")
    is_on_gpu(log)
    last = re.findall(r"^step .*", log, re.MULTILINE)[-1:]
    seconds = round(time.perf_counter() - start, 1)
    return {"losses": losses(log), "last": last, "peak_mib": peak(log), "seconds": seconds}


def runs_out_of_memory(project: Path) -> dict[str, Any]:
    """A batch that does not fit is split, and the loss stays what it was."""
    flags = ["--batch-size", "512", "--max-steps", "4", "--log-every", "1", "--epochs", "9"]
    whole = train(project, *flags, "--output-dir", "runs/whole")
    share = (peak(whole) << 20) * 0.6 / memory_of_the_device()
    parts = train(project, *flags, "--output-dir", "runs/parts", share=share)
    one, two = losses(whole), losses(parts)
    if len(one) != 4 or any(abs(a - b) > 2e-3 for a, b in zip(one, two, strict=True)):
        raise Failed(f"{one} in one piece, {two} in parts")
    said = [line for line in parts.splitlines() if "part" in line][:2]
    if not said:
        raise Failed("it never ran out of memory")
    return {"whole": one, "parts": two, "said": said, "peaks_mib": [peak(whole), peak(parts)]}


def memory_of_the_device() -> int:
    code = "import torch; print(torch.cuda.mem_get_info()[1])"
    return int(call(Path(), [sys.executable, "-c", code]))


def trains_launched(project: Path) -> dict[str, Any]:
    """Started as `accelerate.yaml` says, on one device: FSDP 2, FP8."""
    launch = [sys.executable, "-m", "accelerate.commands.launch", "--num_processes", "1"]
    launch += ["--config_file", "accelerate.yaml", "train.py", *SHORT]
    log = call(project, [*launch, "--output-dir", "runs/one"])
    resume = ["--resume", "runs/one/checkpoint_00000010", "--output-dir", "runs/resumed"]
    resumed = call(project, [*launch, *resume])
    return {"first": log.splitlines()[0], "losses": losses(log), "resumed": losses(resumed)}


CHECKS: dict[str, Callable[[Path], Mapping[str, Any]]] = {
    "batch in parts": runs_out_of_memory,
    "split": trains_launched,
    "fp8": trains_launched,
}


def check(label: str) -> Callable[[Path], Mapping[str, Any]]:
    if label.startswith("bf16 "):
        return resumes_to_the_bit
    if label.startswith("fp16 "):
        return trains_in_fp16
    return CHECKS.get(label, trains)


def run_one(label: str, project: Path) -> dict[str, Any]:
    try:
        return {"label": label, "ok": True, **check(label)(project)}
    except (Failed, subprocess.TimeoutExpired, OSError, IndexError, ValueError) as error:
        return {"label": label, "ok": False, "why": str(error)[-1800:]}


def run(folder: Path, chosen: list[str]) -> Iterator[dict[str, Any]]:
    """The result of each project, several at a time."""
    labels = json.loads((folder / "projects.json").read_text())
    models = folder / "models" / "llama"
    if not models.exists():
        call(folder, [sys.executable, "-c", MAKE_MODEL, str(models.absolute())])
    wanted = {
        label: folder / name
        for label, name in labels.items()
        if not chosen or any(part in label for part in chosen)
    }
    with ThreadPoolExecutor(WORKERS) as pool:
        results = [pool.submit(run_one, label, project) for label, project in wanted.items()]
        for done in as_completed(results):
            yield done.result()


if __name__ == "__main__":
    mode, folder, *chosen = sys.argv[1:]
    if mode == "render":
        render(Path(folder))
    else:
        for result in run(Path(folder).absolute(), chosen):
            print(json.dumps(result), flush=True)
