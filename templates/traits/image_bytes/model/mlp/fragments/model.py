from torch import Tensor

#: slot model
class MLP(nn.Sequential):
    """Linear layers, and others between them: images from 0 to 255 in, logits out."""

    def forward(self, images: Tensor) -> Tensor:
        return super().forward(images.to(self[-1].weight.dtype) / 255)
