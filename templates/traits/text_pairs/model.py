from transformers import AutoModel

from data import build_tokenizer
from lib.limits import check_limits

#: slot build_model when model=pretrained
class Pretrained(nn.Module):
    """Vectors of shape (batch, width) for tokens and a mask of shape (batch, length).

    They are the mean of the last hidden states of a pretrained model, as in sentence-transformers:
    Reimers and Gurevych 2019, https://arxiv.org/abs/1908.10084
    """

    def __init__(self, config) -> None:
        super().__init__()
        self.temperature, name = config.temperature, config.pretrained_name
        try:
            # mixed precision needs weights in 32 bits
            self.model = AutoModel.from_pretrained(name, dtype=torch.float32)
        except (OSError, ValueError) as error:
            raise SystemExit(f"The model {name!r} can't be loaded: {error}") from error
        if self.model.config.is_encoder_decoder:
            raise SystemExit(f"{name!r} has an encoder and a decoder: choose an encoder.")
        if getattr(self.model, "pooler", None) is not None:
            self.model.pooler = None  # it is not used, and would have no gradients
        #: region layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp
        self._no_split_modules = [n for n in self.model._no_split_modules or () if "Embeddings" not in n]  # FSDP gathers one at a time
        #: end layer_classes

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        states = self.model(input_ids=tokens, attention_mask=mask.long()).last_hidden_state
        return pool(states, mask)


def build_model(config) -> nn.Module:
    """The pretrained model, before it is prepared."""
    model = Pretrained(config)
    check_limits(model.model, len(build_tokenizer(config)), config.max_length, "--max-length")
    return model
