import torch.nn.functional as F

#: slot model
class Projected(nn.Module):
    """Features of images, shape (batch, features), or projections to compare in training.

    A small network projects the features. The product of two of its outputs, shape (batch, width),
    is their cosine similarity divided by the temperature. Chen and others 2020,
    https://arxiv.org/abs/2002.05709
    """

    def __init__(self, encoder: nn.Module, features: int, config) -> None:
        super().__init__()
        self.encoder = encoder
        self.projector = nn.Sequential(
            nn.Linear(features, features), nn.ReLU(), nn.Linear(features, config.projection)
        )
        self.length = config.temperature**-0.5

    def forward(self, images: Tensor, project: bool = False) -> Tensor:
        features = self.encoder(images)
        return self.length * F.normalize(self.projector(features), dim=1) if project else features

#: slot build_model
def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    ...  #: slot built
