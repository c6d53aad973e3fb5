import torch
from torchvision import models

#: slot encoder
class Backbone(nn.Module):
    """Features of a torchvision model before its head, for images from 0 to 1.

    Images are normalized as for the pretrained weights. This gives grayscale images three channels.
    """

    def __init__(self, name: str, pretrained: bool) -> None:
        super().__init__()
        weights = models.get_model_weights(name).DEFAULT
        self.network = models.get_model(name, weights=weights if pretrained else None)
        linear = {
            name: part for name, part in self.network.named_modules() if isinstance(part, nn.Linear)
        }
        head = [*linear][-1]
        self.features = linear[head].in_features
        self.network.set_submodule(head, nn.Identity())
        for part in ("mean", "std"):
            values = torch.tensor(getattr(weights.transforms(), part)).reshape(3, 1, 1)
            self.register_buffer(part, values)

    def forward(self, images: Tensor) -> Tensor:
        return self.network((images - self.mean) / self.std)

#: slot built
# their head is not a linear layer, or there are several heads
odd = ["squeezenet*", "googlenet", "inception*"]
if config.backbone not in models.list_models(module=models, exclude=odd):
    raise SystemExit(
        f"{config.backbone} is not a torchvision classifier with a head that can be removed: "
        "torchvision.models.list_models() lists all names."
    )
encoder = Backbone(config.backbone, config.pretrained)
return Projected(encoder, encoder.features, config)
