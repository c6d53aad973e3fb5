from torch import Tensor

#: slot scale when model=cnn
images = images.to(self.head[-1].weight.dtype) / 255  # bytes to numbers from 0 to 1

#: slot model when model=mlp
class MLP(nn.Sequential):
    """Linear layers, and others between them: images from 0 to 255 in, logits out."""

    def forward(self, images: Tensor) -> Tensor:
        return super().forward(images.to(self[-1].weight.dtype) / 255)

#: replace normalise when model=timm|torchvision
# mean and std are for 0 to 1; the bytes become floats, which are normalized in place
images = images.to(self.mean.dtype, copy=True).sub_(255 * self.mean).div_(255 * self.std)
return self.head(self.backbone(images))
