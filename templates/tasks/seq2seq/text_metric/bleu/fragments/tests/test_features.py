import pytest
from metrics import compare_texts, summarize_texts
from sacrebleu import BLEU

#: slot tests
def test_bleu_is_that_of_sacrebleu():
    written = ["the cat sat on the mat", "it is", "a red house and a dog"]
    targets = ["the cat is on the mat", "it was here", "a red house and a cat"]
    found = summarize_texts(compare_texts(written, targets).sum(dim=0), 3)
    assert found["bleu"] == pytest.approx(BLEU().corpus_score(written, [targets]).score)
