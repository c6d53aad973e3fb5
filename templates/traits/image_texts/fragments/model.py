from math import log

#: slot towers
class TwoTowers(nn.Module):
    """Vectors of images and of texts in one space, shape (batch, 2, width).

    The product of two of them is their cosine divided by the temperature, which is learned, as in
    CLIP: Radford and others 2021, https://arxiv.org/abs/2103.00020
    """

    def __init__(self, config) -> None:
        super().__init__()
        ...  #: slot towers_built
        #: slot layer_classes

    def embed_images(self, images: Tensor) -> Tensor:
        """Unit vectors, shape (batch, width)."""
        ...  #: slot embed_images

    def embed_texts(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """Unit vectors, shape (batch, width)."""
        ...  #: slot embed_texts

    def forward(self, images: Tensor, tokens: Tensor, mask: Tensor) -> Tensor:
        vectors = [self.embed_images(images), self.embed_texts(tokens, mask)]
        return torch.stack(vectors, dim=1) * (self.log_scale / 2).exp()

    @torch.no_grad()
    def clamp_temperature(self) -> None:
        """Keep it between 0.01 and 1 after each step: lower values make training unstable."""
        self.log_scale.clamp_(min=0, max=log(100))
