"""Edits of models, losses, data and the run, that were added when the merge was measured last."""

from corpus.edit import DATA, MODEL, TRAIN, Apply, Files, field, kind, nothing
from corpus.script import add_import, after, before, define, replace, sub, wrap

NANO = "karpathy/nanoGPT:train.py"
IMAGENET = "pytorch/examples:imagenet/main.py"
VISION = "pytorch/vision:references/classification/train.py"
FAIRSEQ = "facebookresearch/fairseq:fairseq/trainer.py"
DEIT = "facebookresearch/deit:losses.py"
TITAN = "pytorch/torchtitan:torchtitan/train.py"
OLMO = "allenai/OLMo:olmo/train.py"
TIMM = "huggingface/pytorch-image-models:train.py"
LITGPT = "Lightning-AI/litgpt:litgpt/pretrain.py"
PROFILER = "pytorch/kineto:tb_plugin/examples/resnet50_profiler_api.py"
SUPCON = "HobbitLong/SupContrast:main_supcon.py"

FORWARD = r"\w+ = (compute_loss\()?model\(images\)"
LOSS, BACKWARD, STEP = r"loss = compute_loss\(", r"accelerator\.backward\(", r"optimizer\.step\(\)"
COUNT, PASSED = r"train_loss\.add\(", r"progress\.batch \+= "
PSTEP, EPOCH = r"progress\.step \+= 1", r"model\.train\(\)"
PREPARE = r"model, optimizer, train_loader, val_loader, test_loader = accelerator\.prepare"


def head_of_batch(new: str) -> Apply:
    """Lines in front of the forward pass of each batch."""

    def apply(files: Files) -> None:
        if "mix(images" in files[TRAIN]:
            before(r"images, others, share = mix\(", new, "main")(files)
        else:
            before(r"loss = compute_loss\(|logits = model\(images\)", new, "main")(files)

    return apply


kind("compiled by hand", NANO, "model = torch.compile(model) behind build_model")(
    after(r"model = build_model\(", 'model = torch.compile(model, backend="eager")')
)
kind("profiler stepped", PROFILER, "started above the loop, stepped in it")(
    add_import("from torch.profiler import profile"),
    before(r"for epoch in range", "prof = profile()\nprof.start()", "main"),
    after(PSTEP, "prof.step()"),
    after(r"for epoch in range", "prof.stop()", "main"),
)
kind("batches enumerated", IMAGENET, "for i, (images, labels) in enumerate(bar)")(
    sub(r"for images, labels in bar:", "for i, (images, labels) in enumerate(bar):"),
    after(PASSED, 'if i == 0:\n    log(f"first batch of {len(labels)}")'),
    also=[nothing],
    decide=["accumulation", "no accumulation"],
)
kind("steps with large gradients skipped", OLMO, "optimizer.step() only if the norm is small")(
    wrap(STEP, STEP, "if grad_norm < 100:"), decide=["no clipping", "clipping of values"]
)
kind("layers in evaluation mode", VISION, "the norms stay in evaluation mode while training")(
    after(
        EPOCH,
        """
        for module in model.modules():
            if isinstance(module, nn.GroupNorm):
                module.eval()
        """,
        "main",
    )
)
kind("dropout by the epoch", TIMM, "the dropout falls with the epochs")(
    after(
        EPOCH,
        """
        for module in model.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.3 * (1 - epoch / config.epochs)
        """,
        "main",
    )
)
kind("main returns its metrics", TITAN, "main() returns metrics and the number of steps")(
    sub(r"^    return metrics$", '    return metrics | {"steps": progress.step}'),
)
kind("record around main", TITAN, "@record shows errors of workers")(
    add_import("from torch.distributed.elastic.multiprocessing.errors import record"),
    sub(r"^def main\(", "@record\ndef main("),
)
kind("cosine with restarts", TIMM, "the cosine begins again")(
    sub(r"cos\(pi \* done\)", "cos(pi * (2 * done % 1))"),
    also=[nothing],
    decide=["linear schedule", "no schedule"],
)
kind("seed of the process", FAIRSEQ, "each process is seeded by its number")(
    replace(
        r"set_seed\(config\.seed, device_specific=True\)",
        "set_seed(config.seed + 17 * accelerator.process_index)",
    )
)
kind("bar in the evaluation", IMAGENET, "evaluate shows a bar")(
    add_import("from tqdm import tqdm"),
    sub(
        r"for (.+) in islice\(loader, limit or None\):",
        r"for \1 in tqdm(islice(loader, limit or None), desc=name, leave=False):",
    ),
)
kind("teacher beside the model", DEIT, "the loss has a second term from a frozen teacher")(
    after(
        r"model = build_model\(",
        "teacher = build_model(config).to(accelerator.device).eval().requires_grad_(False)",
    ),
    before(
        COUNT,
        """
        with torch.no_grad():
            soft = teacher(images).softmax(dim=-1)
        loss = 0.5 * loss + 0.5 * F.cross_entropy(model(images), soft)
        """,
        "main",
    ),
)
kind("two classes of ten", SUPCON, "labels become odd or even in the loop and in evaluate")(
    head_of_batch("labels = labels % 2"),
    before(r"logits = model\(images\)", "labels = labels % 2", "evaluate"),
)
kind("weights of the samples", FAIRSEQ, "compute_loss weighs samples by their brightness")(
    sub(
        r"loss = compute_loss\((model\(images\)|logits), labels\)\.mean\(\)",
        r"loss = (compute_loss(\1, labels) * images.mean(dim=(1, 2, 3))).sum() / images.mean(dim=(1, 2, 3)).sum()",
    ),
    decide=["mixing"],
)
kind("checkpoint at each best model", TIMM, "a checkpoint if the accuracy is the best")(
    after(
        r"best_model\.update\(",
        'if metrics["val_accuracy"] == best_model.score:\n    checkpoints.save()',
    ),
    decide=["no checkpoints", "no best model"],
)
kind("best model of its own", TIMM, "a subclass of BestModel that says when it saves")(
    define('''
        class LoudBestModel(BestModel):
            """Says when it saves."""

            def update(self, score, model):
                if score > self.score:
                    log(f"a better model: {score:.4f}")
                super().update(score, model)
        '''),
    sub(r"best_model = BestModel\(", "best_model = LoudBestModel("),
    decide=["no best model"],
)
kind(
    "optimizer of the head alone",
    "junyanz/pytorch-CycleGAN-and-pix2pix:models/pix2pix_model.py",
    "the head has an optimizer of its own",
)(
    after(
        PREPARE,
        "head_optimizer = torch.optim.SGD(accelerator.unwrap_model(model).head.parameters(), lr=0.001)",
    ),
    after(STEP, "head_optimizer.step()"),
    after(r"optimizer\.zero_grad\(", "head_optimizer.zero_grad()"),
)
kind("norm of each layer", OLMO, "norms of gradients at each log line")(
    before(
        STEP,
        "norms = {n: float(p.grad.norm()) for n, p in model.named_parameters() if p.grad is not None}",
        "main",
    ),
    after(r"log\(f\"\{line\} ", 'log(f"largest gradient: {max(norms, key=norms.get)}")'),
)
kind("transforms in the loop", IMAGENET, "images are normalized in the loop and in evaluate")(
    head_of_batch("images = (images - 0.3) / 0.4"),
    before(r"logits = model\(images\)", "images = (images - 0.3) / 0.4", "evaluate"),
)
kind("main process alone prints", VISION, "a condition around the line")(
    wrap(r"log\(f\"epoch ", r"log\(f\"epoch ", "if accelerator.is_main_process:")
)
kind("loss of a batch checked by assert", LITGPT, "assert torch.isfinite(loss)")(
    before(COUNT, 'assert torch.isfinite(loss), "the loss is not finite"', "main")
)
kind("workers seeded", TIMM, "worker_init_fn in the loader")(
    define(
        """
        def seed_worker(worker: int) -> None:
            torch.manual_seed(worker)
        """,
        above=r"def build_loaders",
        path=DATA,
    ),
    sub(r"drop_last=True,", "drop_last=True,\n        worker_init_fn=seed_worker,", path=DATA),
)
kind("model from timm's names", TIMM, "build_model asks for a name in Config")(
    field('model_name: str = "convnet"  # a model of models()'),
    replace(
        r"return ConvNet\(",
        """
        if config.model_name == "wide":
            return ConvNet(classes=10, channels=64)
        return ConvNet(classes=10)
        """,
        path=MODEL,
    ),
)
