import torch
from transformers import PreTrainedModel

import train
from callbacks import add_embedding_noise
from helpers import SETTINGS
from model import build_model

#: slot tests
def test_embeddings_have_noise_while_training_alone():
    model = build_model(train.Config(**SETTINGS))
    part = next(part for part in model.modules() if isinstance(part, PreTrainedModel))
    embedding, tokens = part.get_input_embeddings(), torch.zeros(2, 9, dtype=torch.long)
    clean = embedding(tokens)
    add_embedding_noise(model, alpha=3.0)
    largest = 3.0 / (9 * clean.shape[-1]) ** 0.5
    noise = (embedding.train()(tokens) - clean).abs()
    assert 0.8 * largest < noise.max() <= 1.001 * largest
    assert torch.equal(embedding.eval()(tokens), clean)
