import torch
from torch import Tensor
from rouge_score.rouge_scorer import RougeScorer

#: slot classes
TEXT_SCORES = ("rouge1", "rouge2", "rougeL")
ROUGE = RougeScorer(TEXT_SCORES, use_stemmer=True)


def compare_texts(written: list[str], targets: list[str]) -> Tensor:
    """ROUGE-1, ROUGE-2 and ROUGE-L of each text, F1 from 0 to 1, shape (texts, 3).

    Lin 2004, https://aclanthology.org/W04-1013
    """
    rows = [ROUGE.score(target, text) for text, target in zip(written, targets, strict=True)]
    return torch.tensor([[score.fmeasure for score in row.values()] for row in rows])


def summarize_texts(sums: Tensor, texts: int) -> dict[str, float]:
    """The mean scores of texts, from their sums."""
    return dict(zip(TEXT_SCORES, (sums / texts).tolist(), strict=True))
