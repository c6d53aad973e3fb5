from accelerate import Accelerator
from data import build_loaders
from torchao.quantization import Int8WeightOnlyConfig, quantize_
from metrics import format_metrics
from train import evaluate

#: slot formats
"int8": "as torch, with weights of linear layers in 8 bits; to load it, import torchao",

#: slot functions
def quantize(model: nn.Module, config: Config) -> None:
    """Quantize linear layers to 8-bit integers, and print the metrics before and after.

    Each output of a layer has its own scale. The largest weight becomes 127.
    """
    accelerator = Accelerator(cpu=True)
    loader = accelerator.prepare(build_loaders(config)[2])
    for bits in (32, 8):
        if bits == 8:
            quantize_(model, Int8WeightOnlyConfig())
        metrics = evaluate(accelerator, model, loader, "test", config.limit_batches)
        print(f"weights of {bits} bits | {format_metrics(metrics)}")
    model.eval()

#: slot quantized
if given.format == "int8":
    quantize(model, config)

#: slot exported
elif format == "int8":
    program = export_torch(model, inputs, folder / "model.pt2")
