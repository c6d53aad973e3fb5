from data import tokenize
from torch.utils.data import DataLoader
from transformers import AutoTokenizer

#: replace build
#: region saved_model
model = build_model(config, config.output_dir / "transformers")
#: end saved_model

#: slot before_batches
#: region saved
saved = config.output_dir / "transformers"
#: end saved
tokenizer = AutoTokenizer.from_pretrained(saved)
#: region names
names = model.config.id2label.values()
#: end names

#: slot batches
for texts in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    #: region parts
    parts = [(text,) for text in texts]
    #: end parts
    batch = tokenize(parts, tokenizer, config.max_length)
    #: region outputs
    #: region probabilities
    probabilities = model(**batch.to(device)).logits.cpu().double().softmax(dim=1)
    #: end probabilities
    for text, probs in zip(texts, probabilities.tolist(), strict=True):
        #: slot text
        prob_of = dict(zip(names, probs, strict=True))
        #: region row
        row = {"text": text, "label": max(prob_of, key=prob_of.get)}
        #: end row
        rows.append(row | {f"p_{name}": prob for name, prob in prob_of.items()})
    #: end outputs
