import timm
import torch

#: slot encoder
class Backbone(nn.Module):
    """Features of a timm model before its last layer, for images from 0 to 1.

    Images are normalized as for the pretrained weights. This gives grayscale images three channels.
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network
        for name in ("mean", "std"):
            values = torch.tensor(network.pretrained_cfg[name]).reshape(3, 1, 1)
            self.register_buffer(name, values)

    def forward(self, images: Tensor) -> Tensor:
        return self.network((images - self.mean) / self.std)

#: slot built
if not timm.is_model(config.backbone):
    raise SystemExit(f"timm has no {config.backbone}: timm.list_models() lists all names.")
network = timm.create_model(config.backbone, pretrained=config.pretrained, num_classes=0)
return Projected(Backbone(network), network.head_hidden_size, config)
