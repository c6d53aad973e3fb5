import torch
from torch import Tensor
from torchvision import models

#: slot model
class Classifier(nn.Module):
    """A torchvision backbone and a head: images from 0 to {{ task.white }} in, logits (batch, classes) out.

    Images are normalized as for the pretrained weights. This gives grayscale images three channels.
    """

    def __init__(self, name: str, pretrained: bool, classes: int) -> None:
        super().__init__()
        weights = models.get_model_weights(name).DEFAULT
        self.backbone = models.get_model(name, weights=weights if pretrained else None)
        # replace the last linear layer, the head for the ImageNet classes
        layers = self.backbone.named_modules()
        last, layer = [item for item in layers if isinstance(item[1], nn.Linear)][-1]
        self.backbone.set_submodule(last, nn.Identity())
        self.head = nn.Linear(layer.in_features, classes)
        self.register_buffer("mean", torch.tensor(weights.transforms().mean).reshape(3, 1, 1))
        self.register_buffer("std", torch.tensor(weights.transforms().std).reshape(3, 1, 1))

    def forward(self, images: Tensor) -> Tensor:
        #: region normalise
        return self.head(self.backbone((images - self.mean) / self.std))
        #: end normalise

#: slot build_model
# their head is not a linear layer, or there are several heads
odd = ["squeezenet*", "googlenet", "inception*"]
if config.backbone not in models.list_models(module=models, exclude=odd):
    raise SystemExit(
        f"{config.backbone} is not a torchvision classifier with a head that can be replaced: "
        "torchvision.models.list_models() lists all names."
    )
return Classifier(config.backbone, config.pretrained, classes={{ task.classes }})
