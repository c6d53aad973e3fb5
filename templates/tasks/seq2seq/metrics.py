import torch
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import BLEU
from torch import Tensor

#: slot classes when text_metric=rouge
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

#: slot classes when text_metric=bleu
TEXT_SCORES = (
    *(f"matches{n}" for n in range(1, 5)),
    *(f"ngrams{n}" for n in range(1, 5)),
    "length",
    "target_length",
)


def compare_texts(written: list[str], targets: list[str]) -> Tensor:
    """The counts of each text, whose sums give the BLEU of all texts, shape (texts, 10).

    They are the n-grams of the text that are also in the target, its n-grams, and the lengths of
    both in words: see TEXT_SCORES. Papineni and others 2002, https://aclanthology.org/P02-1040
    """
    bleu = BLEU(effective_order=True)  # of one text, which may have fewer than four words
    pairs = zip(written, targets, strict=True)
    rows = [bleu.sentence_score(text, [target]) for text, target in pairs]
    return torch.tensor([[*row.counts, *row.totals, row.sys_len, row.ref_len] for row in rows])


def summarize_texts(sums: Tensor, texts: int) -> dict[str, float]:
    """The BLEU of all texts, from 0 to 100, from their summed counts."""
    counts = sums.tolist()
    bleu = BLEU.compute_bleu(counts[:4], counts[4:8], *counts[8:], smooth_method="exp")
    return {"bleu": bleu.score}
