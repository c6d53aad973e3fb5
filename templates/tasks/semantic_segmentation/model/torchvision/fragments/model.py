from torchvision import models

#: slot model
class Segmenter(nn.Module):
    """A torchvision model: images from 0 to 1 in, logits (batch, classes, height, width) out.

    Images are normalized as for weights trained on ImageNet.
    """

    def __init__(self, name: str, pretrained: bool, classes: int) -> None:
        super().__init__()
        backbone = "DEFAULT" if pretrained else None
        self.model = models.get_model(
            name, weights=None, weights_backbone=backbone, num_classes=classes
        )
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).reshape(3, 1, 1))
        self.register_buffer("std", torch.tensor([0.229, 0.224, 0.225]).reshape(3, 1, 1))

    def forward(self, images: Tensor) -> Tensor:
        return self.model((images - self.mean) / self.std)["out"]

#: slot build_model
if config.backbone not in models.list_models(module=models.segmentation):
    raise SystemExit(
        f"torchvision has no segmentation model {config.backbone}: "
        f"use one of {', '.join(models.list_models(module=models.segmentation))}."
    )
return Segmenter(config.backbone, config.pretrained, {{ task.classes }})
