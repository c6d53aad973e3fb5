"""Edits of the loss, the optimizer, the schedule, the model and the data."""

from corpus.edit import DATA, MODEL, TRAIN, create, field, kind
from corpus.script import add_import, after, before, define, delete, replace, sub
from corpus.structure import without_unused_imports

NANO, TIMM, CIFAR, SAM = (
    "karpathy/nanoGPT:train.py",
    "huggingface/pytorch-image-models:train.py",
    "kuangliu/pytorch-cifar:main.py",
    "davda54/sam:example/train.py",
)
GLUE = "huggingface/transformers:examples/pytorch/text-classification/run_glue_no_trainer.py"
LOSSES = "huggingface/pytorch-image-models:timm/loss/cross_entropy.py"
LOSS, STEP, GROUPS = r"loss = compute_loss\(", r"optimizer\.step\(\)", r"schedule\.step\(\)"
ENTROPY = r"return F\.cross_entropy\("
ADAMW = r"return AdamW\("
BUILD = r"optimizer = build_optimizer\("
PEAKS = r"schedule = build_schedule"
TRAINED = r"compute_loss\(model\(images\), labels"


def criterion(new: str) -> object:
    """Another call where the training loss is computed; evaluation keeps compute_loss."""
    return sub(TRAINED, new)


# losses

kind("focal loss", "ultralytics/yolov5:utils/loss.py", "a function of its own for training")(
    define('''
    def focal_loss(logits, labels, gamma=2.0):
        """Cross entropy that counts what is right already for less."""
        losses = F.cross_entropy(logits, labels, reduction="none")
        return (1 - torch.exp(-losses)) ** gamma * losses
'''),
    criterion("focal_loss(model(images), labels"),
)
kind("focal loss inside compute_loss", "clcarwin/focal_loss_pytorch:focalloss.py", "another body")(
    replace(
        ENTROPY,
        'losses = F.cross_entropy(logits, labels, reduction="none")\nreturn (1 - torch.exp(-losses)) ** 2 * losses',
    )
)
kind("binary cross entropy", "facebookresearch/deit:main.py", "BCE with logits of one-hot labels")(
    replace(
        ENTROPY,
        'targets = F.one_hot(labels, logits.shape[-1]).float()\nreturn F.binary_cross_entropy_with_logits(logits, targets, reduction="none").mean(dim=-1)',
    )
)
kind("criterion as an object", CIFAR, "nn.CrossEntropyLoss, made in main")(
    before(r"progress = Progress", "criterion = nn.CrossEntropyLoss()"),
    criterion("criterion(model(images), labels"),
)
kind("criterion as a class", LOSSES, "an nn.Module with a forward")(
    define('''
    class SmoothCrossEntropy(nn.Module):
        """Cross entropy with labels that are a little uncertain."""

        def forward(self, x, target):
            logprobs = F.log_softmax(x, dim=-1)
            return 0.9 * F.nll_loss(logprobs, target) - 0.1 * logprobs.mean(dim=-1)
'''),
    before(r"progress = Progress", "criterion = SmoothCrossEntropy()"),
    criterion("criterion(model(images), labels"),
)
kind("smoothing by hand in the loop", SAM, "label_smoothing in the call")(
    criterion('F.cross_entropy(model(images), labels, label_smoothing=0.1, reduction="none"')
)
kind("loss in the model", NANO, "the model returns logits and loss")(
    sub(
        r"def forward\(self, images: Tensor\) -> Tensor:",
        "def forward(self, images, targets=None):",
        path=MODEL,
    ),
    sub(
        r"^        return self\.head\(self\.features\(images\)\)$",
        "        logits = self.head(self.features(images))\n        if targets is None:\n            return logits\n        return logits, nn.functional.cross_entropy(logits, targets)",
        path=MODEL,
    ),
    sub(
        r"^( +)loss = compute_loss\(model\(images\), labels\)\.mean\(\)$",
        r"\1logits, loss = model(images, labels)",
    ),
)
kind("weights of the classes", "ultralytics/yolov5:utils/general.py", "each has its own")(
    sub(r'reduction="none"', 'reduction="none", weight=logits.new_ones(logits.shape[-1])')
)
kind("temperature", "facebookresearch/dino:main_dino.py", "logits are divided")(
    replace(ENTROPY, 'return F.cross_entropy(logits / 2.0, labels, reduction="none")')
)
kind("loss of half precision in 32 bits", "karpathy/nanochat:nanochat/gpt.py", "logits.float()")(
    sub(r"F\.cross_entropy\(logits, ", "F.cross_entropy(logits.float(), ")
)
kind("entropy bonus", "vwxyzjn/cleanrl:cleanrl/ppo.py", "minus a small share of the entropy")(
    sub(
        r"^( +)loss = compute_loss\(model\(images\), labels\)\.mean\(\)$",
        r"\1logits = model(images)\n\1entropy = torch.distributions.Categorical(logits=logits).entropy().mean()\n\1loss = compute_loss(logits, labels).mean() - 0.01 * entropy",
    )
)
kind("teacher and distillation", "facebookresearch/deit:losses.py", "a model without gradients")(
    before(r"progress = Progress", "teacher = build_model(config).to(accelerator.device).eval()"),
    sub(
        r"^( +)loss = compute_loss\(model\(images\), labels\)\.mean\(\)$",
        r"\1logits = model(images)\n\1with torch.no_grad():\n\1    wanted = teacher(images).softmax(dim=-1)\n\1loss = compute_loss(logits, labels).mean() + 0.1 * F.cross_entropy(logits, wanted)",
    ),
)
kind("sum instead of the mean", "pytorch/examples:vae/main.py", ".sum() / len(labels)")(
    sub(r"(loss = compute_loss\(model\(images\), labels\))\.mean\(\)$", r"\1.sum() / len(labels)")
)

# optimizers

kind("SGD with momentum", CIFAR, "SGD in place of AdamW")(
    replace(
        ADAMW,
        "return SGD(\n    parameters, lr=config.learning_rate, momentum=0.9, weight_decay=config.weight_decay\n)",
    ),
    add_import("from torch.optim import SGD"),
    without_unused_imports(TRAIN),
)
kind("RMSprop", "eriklindernoren/PyTorch-GAN:implementations/wgan/wgan.py", "not AdamW")(
    replace(ADAMW, "return RMSprop(parameters, config.learning_rate, alpha=0.9)"),
    sub(
        r"^from torch\.optim import AdamW, Optimizer$", "from torch.optim import Optimizer, RMSprop"
    ),
)
kind("Adam of torch.optim as a module", "vwxyzjn/cleanrl:cleanrl/dqn.py", "optim.Adam with eps")(
    replace(ADAMW, "return optim.Adam(parameters, lr=config.learning_rate, eps=1e-5)"),
    sub(
        r"^from torch\.optim import AdamW, Optimizer$",
        "from torch import optim\nfrom torch.optim import Optimizer",
    ),
)
kind("betas", NANO, "betas=(0.9, 0.95) in the call")(
    sub(r"(return AdamW\(parameters, lr=config\.learning_rate, )", r"\1betas=(0.9, 0.95), ")
)
kind("betas from Config", NANO, "two fields and a keyword")(
    field("beta1: float = 0.9  # of AdamW\nbeta2: float = 0.95  # of AdamW"),
    sub(
        r"(return AdamW\(parameters, lr=config\.learning_rate, )",
        r"\1betas=(config.beta1, config.beta2), ",
    ),
)
kind("eps and amsgrad", "facebookresearch/ConvNeXt:main.py", "two more keywords at the end")(
    sub(r"(return AdamW\(.*weight_decay=config\.weight_decay)", r"\1, eps=1e-6, amsgrad=True")
)
kind("decay for matrices alone", NANO, "two groups by the number of dimensions")(
    sub(
        r"^    parameters = model\.parameters\(\)$",
        '    decay = [p for p in model.parameters() if p.dim() >= 2]\n    rest = [p for p in model.parameters() if p.dim() < 2]\n    parameters = [{"params": decay}, {"params": rest, "weight_decay": 0.0}]',
    )
)
kind("another rate for the head", "facebookresearch/mae:util/lr_decay.py", "ten times the other")(
    sub(
        r"^    parameters = model\.parameters\(\)$",
        '    parameters = [\n        {"params": model.features.parameters(), "lr": 0.1 * config.learning_rate},\n        {"params": model.head.parameters()},\n    ]',
    )
)
kind("weights with a gradient alone", "artidoro/qlora:qlora.py", "a filter by requires_grad")(
    sub(
        r"^    parameters = model\.parameters\(\)$",
        "    parameters = [p for p in model.parameters() if p.requires_grad]",
    )
)
kind("optimizer of its own", "lucidrains/lion-pytorch:lion_pytorch/lion_pytorch.py", "a class")(
    create(
        "signsgd.py",
        '''
    """Steps by the sign of the gradient."""

    from torch.optim import SGD


    class SignSGD(SGD):
        def step(self, closure=None):
            for group in self.param_groups:
                for param in group["params"]:
                    param.grad.sign_()
            super().step(closure)
''',
    ),
    replace(ADAMW, "return SignSGD(parameters, config.learning_rate)"),
    sub(r"^from torch\.optim import AdamW, Optimizer$", "from torch.optim import Optimizer"),
    add_import("from signsgd import SignSGD"),
)
kind(
    "two optimizers",
    "KellerJordan/modded-nanogpt:records/track_1_short/2024-10-10_Muon/train_gpt2.py",
    "one for the features, one for the head",
)(
    after(BUILD, "head_optimizer = torch.optim.SGD(model.head.parameters(), lr=0.001)"),
    after(STEP, "head_optimizer.step()\nhead_optimizer.zero_grad()"),
)
kind("optimizer built in main", CIFAR, "build_optimizer goes; AdamW in main")(
    delete(r"def build_optimizer\("),
    replace(
        BUILD,
        "optimizer = AdamW(\n    model.parameters(), config.learning_rate, weight_decay=config.weight_decay\n)",
    ),
    without_unused_imports(TRAIN),
)
kind("optimizer by its name", TIMM, "a field chooses between SGD and AdamW")(
    field('opt: str = "adamw"  # or sgd'),
    before(
        ADAMW,
        'if config.opt == "sgd":\n    return torch.optim.SGD(parameters, config.learning_rate)',
    ),
)
kind("fused by hand", NANO, "fused= if there is a GPU")(
    sub(
        r"(return AdamW\(.*weight_decay=config\.weight_decay)",
        r"\1, fused=torch.cuda.is_available()",
    )
)
kind("rate scaled by the batch", "facebookresearch/mae:main_pretrain.py", "lr = blr * batch / 256")(
    sub(
        r"AdamW\(parameters, lr=config\.learning_rate",
        "AdamW(parameters, lr=config.learning_rate * config.batch_size / 256",
    )
)
kind("lookahead by hand", "alphadl/lookahead.pytorch:lookahead.py", "slow weights every few steps")(
    before(r"progress = Progress", "slow = [p.detach().clone() for p in model.parameters()]"),
    after(
        STEP,
        "if progress.step % 5 == 4:\n    with torch.no_grad():\n        for old, param in zip(slow, model.parameters(), strict=True):\n            old.lerp_(param, 0.5)\n            param.copy_(old)",
    ),
)

# schedules

kind("scheduler of torch", CIFAR, "CosineAnnealingLR and scheduler.step() in place of the loop")(
    after(BUILD, "scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=20)"),
    replace(GROUPS, "scheduler.step()"),
    delete(PEAKS),
)
kind("scheduler at the end of an epoch", "pytorch/examples:mnist/main.py", "StepLR, once in it")(
    after(BUILD, "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)"),
    delete(GROUPS),
    delete(PEAKS),
    before(r'log\(f"epoch ', "scheduler.step()"),
)
kind("scheduler beside the schedule", TIMM, "a plateau scheduler that only prints")(
    after(BUILD, 'plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max")'),
    before(r'log\(f"epoch ', "log(f'bad epochs {plateau.num_bad_epochs}')"),
)
kind("warm-up in steps", "karpathy/llama2.c:train.py", "warmup_iters in place of a fraction")(
    sub(r"^    warmup_ratio: float = .*", "    warmup_iters: int = 3  # steps to warm up for"),
    sub(r"warmup = int\(config\.warmup_ratio \* total_steps\)", "warmup = config.warmup_iters"),
)
kind("rate annealed in a line", "vwxyzjn/cleanrl:cleanrl/ppo.py", "by the share of steps")(
    replace(
        GROUPS,
        'frac = 1.0 - progress.step / total_steps\noptimizer.param_groups[0]["lr"] = frac * config.learning_rate',
    ),
    delete(PEAKS),
    delete(r"def build_schedule\("),
    without_unused_imports(TRAIN),
)
kind("decay that grows", "facebookresearch/ConvNeXt:engine.py", "it follows a schedule, too")(
    after(
        GROUPS,
        'for group in optimizer.param_groups:\n    group["weight_decay"] = config.weight_decay * (1 + progress.step / total_steps)',
    )
)
kind("rate read for a print", TIMM, "lrl = [group lr] behind the step")(
    after(
        STEP,
        'lrl = [group["lr"] for group in optimizer.param_groups]\nif progress.step % 5 == 0:\n    log(f"LR: {sum(lrl) / len(lrl):.3e}")',
    )
)

# models

kind("wider model", CIFAR, "another width in build_model")(
    sub(r"ConvNet\(classes=10\)", "ConvNet(classes=10, channels=16)", path=MODEL)
)
kind("another model", CIFAR, "a class of its own in model.py")(
    sub(r"return ConvNet\(classes=10\)", "return Linear()", path=MODEL),
    before(
        r"def build_model\(",
        """class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Flatten()
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        return self.head(self.features(x))


""",
        path=MODEL,
    ),
)
kind("model in a package", CIFAR, "models/ has a file for each model")(
    create("models/__init__.py", "from models.small import Small\n"),
    create(
        "models/small.py",
        """
    from torch import nn


    class Small(nn.Module):
        def __init__(self):
            super().__init__()
            self.features = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU())
            self.head = nn.Linear(32, 10)

        def forward(self, x):
            return self.head(self.features(x))
""",
    ),
    sub(r"^from model import build_model$", "from models import Small"),
    sub(r"build_model\(config\)", "Small()"),
)
kind("weights initialized by hand", "vwxyzjn/cleanrl:cleanrl/ppo.py", "behind build_model")(
    after(
        r"model = build_model\(",
        "for module in model.modules():\n    if isinstance(module, nn.Linear):\n        nn.init.orthogonal_(module.weight)",
    )
)
kind("weights of a file loaded", "facebookresearch/mae:main_finetune.py", "if one is named")(
    field('pretrained: str = ""  # a file of weights'),
    after(
        r"model = build_model\(",
        "if config.pretrained:\n    model.load_state_dict(torch.load(config.pretrained, weights_only=True))",
    ),
)
kind("layers frozen", "facebookresearch/mae:main_linprobe.py", "the features do not train")(
    after(
        r"model = build_model\(",
        "for p in model.features.parameters():\n    p.requires_grad = False",
    )
)
kind("model compiled", NANO, "torch.compile if a field says so")(
    field("compile: bool = False  # with torch.compile"),
    after(r"model = build_model\(", "if config.compile:\n    model = torch.compile(model)"),
)
kind("parameters counted", "karpathy/minGPT:mingpt/model.py", "a print behind build_model")(
    after(
        r"model = build_model\(",
        'n_parameters = sum(p.numel() for p in model.parameters() if p.requires_grad)\nlog(f"number of params: {n_parameters / 1e6:.2f}M")',
    )
)
kind("dropout from Config", NANO, "a field, and an argument of build_model")(
    field("dropout: float = 0.1  # of the head"),
    sub(r"ConvNet\(classes=10\)", "ConvNet(classes=10, dropout=config.dropout)", path=MODEL),
)
kind("channels last by hand", TIMM, "model.to(memory_format=...)")(
    after(r"model = build_model\(", "model = model.to(memory_format=torch.channels_last)")
)

# data

kind("normalized images", CIFAR, "mean and deviation in data.py")(
    sub(
        r"\.unsqueeze\(1\) / 16$",
        ".unsqueeze(1) / 16\n    images = (images - 0.3) / 0.37",
        path=DATA,
    )
)
kind(
    "weighted sampler",
    "ufoym/imbalanced-dataset-sampler:torchsampler/imbalanced.py",
    "WeightedRandomSampler in place of shuffle",
)(
    sub(
        r"^        shuffle=True,$",
        "        sampler=WeightedRandomSampler(torch.ones(len(train_set)), len(train_set), generator=torch.Generator()),",
        path=DATA,
    ),
    sub(
        r"^from torch\.utils\.data import .*$",
        "from torch.utils.data import DataLoader, Dataset, TensorDataset, WeightedRandomSampler, random_split",
        path=DATA,
    ),
)
kind("collate function", GLUE, "collate_fn in the loader")(
    define(
        """
    def collate_fn(samples):
        images, labels = zip(*samples, strict=True)
        return torch.stack(images), torch.stack(labels)
""",
        r"def build_loaders\(",
        path=DATA,
    ),
    sub(
        r"^        shuffle=True,$",
        "        shuffle=True,\n        collate_fn=collate_fn,",
        path=DATA,
    ),
)
kind("last batch kept", CIFAR, "drop_last=False")(
    sub(r"drop_last=True", "drop_last=False", path=DATA)
)
kind("dataset as a class", "pytorch/examples:siamese_network/main.py", "with __getitem__")(
    define(
        '''
    class Digits(Dataset):
        """Images and labels."""

        def __init__(self, images, labels):
            self.images, self.labels = images, labels

        def __len__(self):
            return len(self.labels)

        def __getitem__(self, index):
            return self.images[index], self.labels[index]
''',
        r"def build_datasets\(",
        path=DATA,
    ),
    sub(r"TensorDataset\(images, labels\)", "Digits(images, labels)", path=DATA),
    without_unused_imports(DATA),
)
kind("validation data larger", "facebookresearch/mae:main_linprobe.py", "another split")(
    sub(r"\[0\.8, 0\.1, 0\.1\]", "[0.7, 0.2, 0.1]", path=DATA)
)
kind("no test data", CIFAR, "two sets; the validation data are tested")(
    sub(r"\[0\.8, 0\.1, 0\.1\]", "[0.8, 0.2]", path=DATA),
    sub(
        r"train_set, val_set, test_set = build_datasets\(config\)",
        "train_set, val_set = build_datasets(config)\n    test_set = val_set",
        path=DATA,
    ),
)
kind("loaders built in main", CIFAR, "DataLoader in train.py, from build_datasets")(
    replace(
        r"train_loader, val_loader, test_loader = build_loaders",
        "train_set, val_set, test_set = build_datasets(config)\ntrain_loader = DataLoader(\n    train_set, config.batch_size, shuffle=True, drop_last=True, generator=torch.Generator()\n)\nval_loader = DataLoader(val_set, 4 * config.batch_size)\ntest_loader = DataLoader(test_set, 4 * config.batch_size)",
    ),
    sub(r"^from data import build_loaders$", "from data import build_datasets"),
    add_import("from torch.utils.data import DataLoader"),
)
kind(
    "part of the data",
    "huggingface/accelerate:examples/by_feature/cross_validation.py",
    "a Subset of the training data",
)(
    sub(
        r"train_set, val_set, test_set = build_datasets\(config\)",
        "train_set, val_set, test_set = build_datasets(config)\n    train_set = Subset(train_set, range(256))",
        path=DATA,
    ),
    sub(
        r"^from torch\.utils\.data import DataLoader, Dataset, ",
        "from torch.utils.data import DataLoader, Dataset, Subset, ",
        path=DATA,
    ),
)
kind("data downloaded on one process first", GLUE, "with accelerator.main_process_first()")(
    sub(
        r"^    train_loader, val_loader, test_loader = build_loaders\(config\)$",
        "    with accelerator.main_process_first():\n        train_loader, val_loader, test_loader = build_loaders(config)",
    )
)
kind("samples of the training data shown", GLUE, "the first samples are logged")(
    after(
        r"train_loader, val_loader, test_loader = build_loaders",
        'for index in range(2):\n    log(f"Sample {index} of the training set: {train_loader.dataset[index][1]}")',
    )
)
kind("augmentation by hand in data.py", TIMM, "images shifted in the dataset")(
    define(
        '''
    class Flipped(Dataset):
        """Every second image mirrored."""

        def __init__(self, samples):
            self.samples = samples

        def __len__(self):
            return len(self.samples)

        def __getitem__(self, index):
            image, label = self.samples[index]
            return (image.flip(-1) if index % 2 else image), label
''',
        r"def build_loaders\(",
        path=DATA,
    ),
    sub(
        r"train_set, val_set, test_set = build_datasets\(config\)",
        "train_set, val_set, test_set = build_datasets(config)\n    train_set = Flipped(train_set)",
        path=DATA,
    ),
)
