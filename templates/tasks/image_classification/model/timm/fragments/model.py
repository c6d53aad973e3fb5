import timm
import torch
from torch import Tensor

#: slot model
class Classifier(nn.Module):
    """A timm backbone and a head: images from 0 to {{ task.white }} in, logits (batch, classes) out.

    Images are normalized as for the pretrained weights. This gives grayscale images three channels.
    """

    def __init__(self, backbone: nn.Module, classes: int) -> None:
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(backbone.head_hidden_size, classes)
        self.register_buffer("mean", torch.tensor(backbone.pretrained_cfg["mean"]).reshape(3, 1, 1))
        self.register_buffer("std", torch.tensor(backbone.pretrained_cfg["std"]).reshape(3, 1, 1))

    def forward(self, images: Tensor) -> Tensor:
        #: region normalise
        return self.head(self.backbone((images - self.mean) / self.std))
        #: end normalise

#: slot build_model
if not timm.is_model(config.backbone):
    raise SystemExit(f"timm has no {config.backbone}: timm.list_models() lists all names.")
# num_classes=0 returns the features before the head
backbone = timm.create_model(config.backbone, pretrained=config.pretrained, num_classes=0)
return Classifier(backbone, classes={{ task.classes }})
