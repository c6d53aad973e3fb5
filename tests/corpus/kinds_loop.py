"""Edits of the loop: steps, gradients, batches, what is counted and printed."""

from collections.abc import Callable

from corpus.edit import REPORTED, TRAIN, Apply, Files, both, field, kind
from corpus.script import add_import, after, before, define, delete, replace, sub, wrap

NANO, TIMM, CIFAR, SAM = (
    "karpathy/nanoGPT:train.py",
    "huggingface/pytorch-image-models:train.py",
    "kuangliu/pytorch-cifar:main.py",
    "davda54/sam:example/train.py",
)
LLAMA, MAE, CONVNEXT, YOLO = (
    "karpathy/llama2.c:train.py",
    "facebookresearch/mae:engine_pretrain.py",
    "facebookresearch/ConvNeXt:engine.py",
    "ultralytics/yolov5:train.py",
)
CLM = "huggingface/transformers:examples/pytorch/language-modeling/run_clm_no_trainer.py"
DIFFUSERS = "huggingface/diffusers:examples/text_to_image/train_text_to_image.py"
WGAN = "eriklindernoren/PyTorch-GAN:implementations/wgan_gp/wgan_gp.py"
IMAGENET = "pytorch/examples:imagenet/main.py"
OPEN = "allenai/open-instruct:open_instruct/finetune.py"

# the pass through the model, in the line of the loss or above it
FORWARD = r"\w+ = (compute_loss\()?model\(images\)"
MIX = r"images, others, share = mix\("  # of a feature: an edit of the images may stand above it
LOSS, BACKWARD, STEP = r"loss = compute_loss\(", r"accelerator\.backward\(", r"optimizer\.step\(\)"
ZERO, CLIP = r"optimizer\.zero_grad\(", r"grad_norm = accelerator\.clip_grad_norm_"
COUNT, PASSED = r"train_loss\.add\(", r"progress\.batch \+= "
PSTEP, AFTER = r"progress\.step \+= 1", r'if config\.checkpoint_unit == "steps"'
EPOCH, STEPS = r"train_loader\.set_epoch\(", r"progress = Progress"


def once_a_step(new: str) -> Apply:
    """Lines behind the backward pass: behind that of the last batch of a step."""
    return before(PASSED, new)


def at_head_of_step(pattern: str, new: str) -> Apply:
    """Lines above a statement: above the first batch of a step, if it has several."""

    def apply(files: Files) -> None:
        if "window_size = " in files[TRAIN]:
            before("window_size = ", new)(files)
        else:
            before(pattern, new, "main")(files)

    return apply


def for_each_batch(new: str) -> Apply:
    """Lines behind the count of batches: for each batch, if a step has several."""

    def apply(files: Files) -> None:
        pattern = BACKWARD if "window_size = " in files[TRAIN] else PASSED
        after(pattern, new)(files)

    return apply


def at_inputs(add: Callable[..., None], new: str, **more: list[str]) -> None:
    """Lines above the pass through the model, or above the blend of a feature."""
    edit, other = (before(place, new, "main") for place in (FORWARD, MIX))
    add(edit, also=[other], **more)


kind("gradients cleared with None", NANO, "zero_grad(set_to_none=True)")(
    sub(r"optimizer\.zero_grad\(\)", "optimizer.zero_grad(set_to_none=True)")
)
kind("gradients cleared before the backward pass", CIFAR, "zero_grad() goes in front of backward")(
    delete(ZERO), at_head_of_step(BACKWARD, "optimizer.zero_grad()")
)
kind("gradients cleared at the head of the batch", IMAGENET, "in front of the loss")(
    delete(ZERO), at_head_of_step(FORWARD, "optimizer.zero_grad()")
)
kind("loss as an item", LLAMA, "loss.item() is kept for a print")(
    after(COUNT, "lossf = loss.item()"),
    after(PSTEP, 'if progress.step % 2 == 0:\n    log(f"loss {lossf:.4f}")'),
)
kind("loss that is not finite ends the run", MAE, "a check with sys.exit behind the loss")(
    after(
        LOSS,
        'if not torch.isfinite(loss):\n    print(f"Loss is {loss.item()}, stopping training")\n    sys.exit(1)',
    ),
    add_import("import sys"),
)
kind("loss that is not finite skips the batch", REPORTED, "continue in front of backward")(
    before(BACKWARD, 'if not torch.isfinite(loss):\n    log("a batch is skipped")\n    continue')
)
kind("samples counted", TIMM, "samples += len(labels) behind the count of batches")(
    before(STEPS, "samples = 0"),
    for_each_batch("samples += len(labels)"),
    before(r'log\(f"done', 'log(f"{samples} samples were seen")'),
)
kind("own count of steps", CLM, "completed_steps beside progress.step")(
    before(STEPS, "completed_steps = 0"),
    after(ZERO, "completed_steps += 1"),
    before(r'log\(f"epoch ', 'log(f"{completed_steps} steps are complete")'),
    decide=["bf16"],  # does a step count that the scaler of gradients left out?
)
kind("accuracy while training", CIFAR, "predictions of the batch are counted")(
    before(r"start, start_step = ", "correct = total = 0"),
    sub(
        r"^( +)loss = compute_loss\(model\(images\), labels\)\.mean\(\)$",
        r"\1outputs = model(images)\n\1loss = compute_loss(outputs, labels).mean()\n\1correct += (outputs.argmax(dim=-1) == labels).sum().item()\n\1total += len(labels)",
    ),
    before(r'log\(f"epoch ', 'log(f"train accuracy {correct / max(total, 1):.3f}")'),
)
kind("average meter", IMAGENET, "a class that averages, and its use")(
    define('''
    class AverageMeter:
        """Computes and stores the average and current value"""

        val = avg = count = 0

        def update(self, val, n=1):
            self.val = val
            self.count += n
            self.avg += (val - self.avg) * n / self.count
'''),
    before(r"start, start_step = ", "losses_m = AverageMeter()"),
    after(COUNT, "losses_m.update(loss.item(), images.size(0))"),
    before(r'log\(f"epoch ', 'log(f"Loss: {losses_m.val:.3g} ({losses_m.avg:.3g})")'),
)
kind("losses in a list", OPEN, "each loss is appended, and their mean printed")(
    before(r"start, start_step = ", "window = []"),
    after(COUNT, "window.append(float(loss))"),
    before(r'log\(f"epoch ', 'log(f"mean {sum(window) / len(window):.4f}")'),
)
kind(
    "running average of the loss",
    "lucidrains/denoising-diffusion-pytorch:denoising_diffusion_pytorch/karras_unet.py",
    "an exponential average named ema",
)(
    before(STEPS, "ema = None"),
    after(COUNT, "ema = float(loss) if ema is None else 0.9 * ema + 0.1 * float(loss)"),
    before(r'log\(f"epoch ', 'log(f"smooth loss {ema:.4f}")'),
)
kind("share of each class", CONVNEXT, "names that a feature uses, too: share, others")(
    after(
        COUNT,
        "share, others = (labels == 0).float().mean(), len(labels)\nif others == 0:\n    log(f'{share}')",
    )
)
at_inputs(
    kind("noise on the inputs", DIFFUSERS, "noise is added to the images"),
    "noise = torch.randn_like(images)\nimages = images + 0.05 * noise",
)
kind("noise on the gradients", REPORTED, "each gradient gets noise in front of the step")(
    before(
        STEP,
        "for param in model.parameters():\n    if param.grad is not None:\n        param.grad.add_(torch.randn_like(param.grad), alpha=0.001)",
    )
)
kind(
    "gradients clipped by value",
    "huggingface/pytorch-image-models:timm/utils/clip_grad.py",
    "an own clip_grad_value_ behind backward",
)(
    once_a_step("accelerator.clip_grad_value_(model.parameters(), 0.5)"),
    decide=["clipping of values"],  # which limit?
)
kind("clipping by torch", NANO, "torch.nn.utils.clip_grad_norm_ in place of the accelerator's")(
    sub(r"grad_norm = accelerator\.clip_grad_norm_\(", "grad_norm = nn.utils.clip_grad_norm_(")
)
kind("clipping if set", NANO, "if config.max_grad_norm: around the clipping")(
    sub(
        r"^( +)(grad_norm = accelerator\.clip_grad_norm_\(.*)$",
        r"\1grad_norm = 0.0\n\1if config.max_grad_norm:\n\1    \2",
    )
)
kind("clipping of the head alone", "facebookresearch/dino:utils.py", "another norm for a part")(
    after(
        CLIP, "accelerator.clip_grad_norm_(accelerator.unwrap_model(model).head.parameters(), 0.5)"
    )
)
kind(
    "norm of the gradients by hand",
    "KellerJordan/modded-nanogpt:records/track_1_short/2024-10-10_Muon/train_gpt2.py",
    "an own norm in front of the step",
)(
    before(
        STEP,
        "own_norm = sum(float(p.grad.norm()) ** 2 for p in model.parameters()) ** 0.5\nif progress.step % 3 == 0:\n    log(f'norm {own_norm:.4f}')",
    )
)
kind("gradients set to zero by hand", "lucidrains/x-transformers:train_enwik8.py", "for each one")(
    replace(ZERO, "for param in model.parameters():\n    param.grad = None")
)
kind("frozen at first", "lucidrains/byol-pytorch:byol_pytorch/trainer.py", "in the first epoch")(
    after(
        EPOCH,
        "for param in accelerator.unwrap_model(model).features.parameters():\n    param.requires_grad = epoch > 0",
    )
)
kind("sharpness-aware steps by hand", SAM, "two passes: climb, and step back")(
    define('''
    def climb(model, rho):
        """Move the weights to where the loss is higher. Returns the move."""
        norm = sum(float(p.grad.norm()) ** 2 for p in model.parameters()) ** 0.5
        moves = []
        with torch.no_grad():
            for param in model.parameters():
                moves.append(param.grad * (rho / (norm + 1e-12)))
                param.add_(moves[-1])
        return moves
'''),
    after(
        BACKWARD,
        "moves = climb(model, 0.05)\noptimizer.zero_grad()\naccelerator.backward(compute_loss(model(images), labels).mean())\nwith torch.no_grad():\n    for param, move in zip(model.parameters(), moves, strict=True):\n        param.sub_(move)",
    ),
    decide=["accumulation"],
)
kind("gradient penalty", WGAN, "the gradient of the loss by the images is added")(
    define('''
    def gradient_penalty(model, images, labels):
        """How far the gradient by the images is from zero."""
        images = images.detach().requires_grad_()
        loss = compute_loss(model(images), labels).mean()
        (gradient,) = torch.autograd.grad(loss, images, create_graph=True)
        return gradient.flatten(1).norm(2, dim=1).pow(2).mean()
'''),
    after(LOSS, "loss = loss + 0.1 * gradient_penalty(model, images, labels)", "main"),
)
kind("gradient penalty in line", WGAN, "the penalty uses labels and the model's output")(
    sub(
        r"^( +)loss = compute_loss\(model\(images\), labels\)\.mean\(\)$",
        r"\1images.requires_grad_()\n\1logits = model(images)\n\1loss = compute_loss(logits, labels).mean()\n\1(slope,) = torch.autograd.grad(loss, images, create_graph=True)\n\1loss = loss + 0.1 * slope.pow(2).mean()",
    )
)
kind("L1 penalty", REPORTED, "the sum of all weights is added to the loss")(
    after(LOSS, "l1 = sum(p.abs().sum() for p in model.parameters())\nloss = loss + 1e-5 * l1")
)
kind("loss divided", CLM, "the loss is scaled in front of backward")(
    before(BACKWARD, "loss = loss / 2")
)
kind("loss of two terms", "facebookresearch/deit:losses.py", "the second one has a weight")(
    field("aux_weight: float = 0.1  # of the second term"),
    sub(
        r"^( +)loss = compute_loss\(model\(images\), labels\)\.mean\(\)$",
        r"\1output = model(images)\n\1loss = compute_loss(output, labels).mean() + config.aux_weight * output.pow(2).mean()",
    ),
)
kind("autocast around the forward pass", TIMM, "with accelerator.autocast():")(
    wrap(FORWARD, COUNT, "with accelerator.autocast():", "main")
)
kind("context of its own", NANO, "ctx = nullcontext() around the loss")(
    before(r"for epoch in range\(", "ctx = nullcontext()", "main"),
    wrap(FORWARD, LOSS, "with ctx:", "main"),
    add_import("from contextlib import nullcontext"),
)
kind(
    "accumulation by Accelerate",
    "huggingface/accelerate:examples/by_feature/gradient_accumulation.py",
    "with accelerator.accumulate(model) around the batch",
)(wrap(FORWARD, BACKWARD, "with accelerator.accumulate(model):", "main"))
kind("steps counted if gradients are exchanged", DIFFUSERS, "a condition around the clipping")(
    sub(
        r"^( +)(grad_norm = accelerator\.clip_grad_norm_\(.*)$",
        r"\1if accelerator.sync_gradients:\n\1    \2",
    )
)
kind("anomalies detected", REPORTED, "with torch.autograd.detect_anomaly")(
    wrap(BACKWARD, BACKWARD, "with torch.autograd.set_detect_anomaly(False):")
)
kind(
    "weights clamped behind the step",
    "eriklindernoren/PyTorch-GAN:implementations/wgan/wgan.py",
    "each weight is limited",
)(
    after(
        STEP,
        "with torch.no_grad():\n    for param in model.parameters():\n        param.clamp_(-2, 2)",
    )
)
kind("average of weights by hand", YOLO, "an own copy is averaged behind the step")(
    before(STEPS, "averaged = [p.detach().clone() for p in model.parameters()]"),
    after(
        ZERO,
        "with torch.no_grad():\n    for mean, param in zip(averaged, model.parameters(), strict=True):\n        mean.lerp_(param, 0.1)",
    ),
    before(r'log\(f"epoch ', 'log(f"averaged {float(sum(m.sum() for m in averaged)):.4f}")'),
)
kind("average of weights by torch", IMAGENET, "AveragedModel of torch.optim.swa_utils")(
    add_import("from torch.optim.swa_utils import AveragedModel"),
    before(STEPS, "swa = AveragedModel(accelerator.unwrap_model(model))"),
    after(STEP, "swa.update_parameters(accelerator.unwrap_model(model))"),
)
kind(
    "own average named ema",
    "lucidrains/denoising-diffusion-pytorch:denoising_diffusion_pytorch/guided_diffusion.py",
    "for ema in (0.9, 0.99): in the loop",
)(before(r'log\(f"epoch ', 'for ema in (0.9, 0.99):\n    log(f"decay {ema}")'))
kind("mixup by hand", "facebookresearch/mixup-cifar10:train.py", "a permutation, two losses")(
    replace(
        LOSS,
        "lam = 0.7\nindex = torch.randperm(len(images))\nmixed = lam * images + (1 - lam) * images[index]\noutputs = model(mixed)\nloss = lam * compute_loss(outputs, labels).mean() + (1 - lam) * compute_loss(outputs, labels[index]).mean()",
    )
)
at_inputs(
    kind(
        "cut and mixed by hand",
        "clovaai/CutMix-PyTorch:train.py",
        "a box of each image comes from another",
    ),
    "rand_index = torch.randperm(len(images))\nimages = images.clone()\nimages[:, :, :2, :2] = images[rand_index, :, :2, :2]",
)
at_inputs(
    kind("smaller images in the first epoch", YOLO, "the images are resized"),
    "if epoch == 0:\n    images = F.interpolate(images, scale_factor=0.5)\n    images = F.interpolate(images, scale_factor=2.0)",
)
kind(
    "two passes for each batch",
    "lucidrains/byol-pytorch:byol_pytorch/byol_pytorch.py",
    "the loss is the mean of two views",
)(
    replace(
        LOSS,
        "loss_one = compute_loss(model(images), labels).mean()\nloss_two = compute_loss(model(images.flip(-1)), labels).mean()\nloss = (loss_one + loss_two) / 2",
    )
)
at_inputs(
    kind("device moves", CIFAR, "images.to(accelerator.device)"),
    "images = images.to(accelerator.device, non_blocking=True)\nlabels = labels.to(accelerator.device, non_blocking=True)",
)
kind("device synchronized", MAE, "torch.cuda.synchronize() behind the step")(
    after(ZERO, "if torch.cuda.is_available():\n    torch.cuda.synchronize()")
)
kind("garbage collected by hand", "karpathy/nanochat:scripts/base_train.py", "every few steps")(
    after(PSTEP, "if progress.step % 5 == 0:\n    gc.collect()"), add_import("import gc")
)
kind(
    "training stops after some minutes",
    "KellerJordan/modded-nanogpt:records/track_1_short/2024-10-10_Muon/train_gpt2.py",
    "a budget of time, checked for each batch",
)(
    before(r"for epoch in range\(", "run_started = time.perf_counter()", "main"),
    before(AFTER, "if time.perf_counter() - run_started > 3600:\n    break"),
)
kind("bar shows the rate", DIFFUSERS, "set_postfix with loss and lr for each batch")(
    after(PSTEP, 'bar.set_postfix(step_loss=float(loss), lr=optimizer.param_groups[0]["lr"])')
)
kind("bar shows the epoch", "karpathy/minGPT:projects/chargpt/chargpt.py", "bar.set_description")(
    after(r"bar = progress_bar\(", 'bar.set_description(f"epoch {epoch + 1}")')
)
kind(
    "memory logged",
    "huggingface/accelerate:examples/by_feature/fsdp_with_peak_mem_tracking.py",
    "the peak of memory at each log line",
)(
    after(
        r'values = \{"loss"',
        'if torch.cuda.is_available():\n    values["memory"] = torch.cuda.max_memory_allocated() / 1e9',
    )
)
at_inputs(
    kind(
        "batch size named",
        "lucidrains/denoising-diffusion-pytorch:denoising_diffusion_pytorch/simple_diffusion.py",
        "batch_size, *shape = images.shape",
    ),
    "batch_size, *shape = images.shape\nif progress.step == 0:\n    log(f'{batch_size} images of {shape}')",
)
kind("epoch as a fraction", MAE, "epoch + batch / batches, logged")(
    after(
        PSTEP,
        "epoch_float = epoch + progress.batch / batches_per_epoch\nif progress.step % 5 == 0:\n    log(f'epoch {epoch_float:.2f}')",
    )
)
kind(
    "hook on the gradients",
    "KellerJordan/modded-nanogpt:records/track_1_short/2024-10-09_SOAP/train_gpt2.py",
    "register_hook on the weights of the head",
)(
    after(
        STEPS,
        "for param in accelerator.unwrap_model(model).head.parameters():\n    param.register_hook(lambda grad: grad.clamp(-1, 1))",
    )
)
at_inputs(
    kind("seen batches skipped by hand", CLM, "continue for the first batches"),
    "if config.seed == 7 and progress.step < 2:\n    progress.batch += 1\n    continue",
    decide=["accumulation"],
)
kind("dry run", "openai/guided-diffusion:scripts/classifier_train.py", "a field, and a break")(
    field("dry_run: bool = False  # one batch"), before(AFTER, "if config.dry_run:\n    break")
)
kind("barrier in each epoch", "facebookresearch/mae:util/misc.py", "wait_for_everyone()")(
    before(r'metrics = \{"train_loss"', "accelerator.wait_for_everyone()")
)
kind("comments at each part of the step", IMAGENET, "# forward, # backward and # update")(
    before(FORWARD, "# compute output", "main"),
    before(BACKWARD, "# compute gradient"),
    before(STEP, "# do the step"),
)
kind("banners around the parts of main", WGAN, "lines of dashes and headings as comments")(
    before(r"train_loader, val_loader, test_loader = build", "# ----------\n#  Data\n# ----------"),
    before(r"for epoch in range\(", "# ----------\n#  Training\n# ----------", "main"),
)
kind("comments of the loop removed", "tinkoff-ai/CORL:algorithms/offline/edac.py", "none in main")(
    both(
        sub(r"  # a new order in each epoch$", ""),
        sub(r"  # every process starts with the same weights$", ""),
        sub(r"^ +# the data order depends only on .*\n", ""),
    )
)
kind("comments of main in Chinese", REPORTED, "some comments are translated")(
    sub(r"# a new order in each epoch$", "# 每个周期都有新的顺序"),
    sub(r"# every process starts with the same weights$", "# 所有进程的初始权重相同"),
    sub(r"# each process gets its own dropout$", "# 每个进程有自己的随机失活"),
)
