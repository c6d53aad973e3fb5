from torch import Tensor, nn
from transformers import PreTrainedModel

#: slot classes
def add_embedding_noise(model: nn.Module, alpha: float) -> None:
    """Add noise to the embeddings of the pretrained part of a model while it trains.

    Uniform, from -1 to 1 times alpha / sqrt(length * width): https://arxiv.org/abs/2310.05914
    """

    def add_noise(embedding: nn.Module, inputs: tuple, output: Tensor) -> Tensor:
        if not embedding.training:
            return output
        largest = alpha / (output.shape[-2] * output.shape[-1]) ** 0.5
        return output + output.new_empty(output.shape).uniform_(-largest, largest)

    part = next(part for part in model.modules() if isinstance(part, PreTrainedModel))
    part.get_input_embeddings().register_forward_hook(add_noise)
