from torch.utils.data import DataLoader
from transformers import AutoTokenizer

from data import read_lines, read_texts, tokenize
from lib.json_lines import holds_objects
from lib.tables import holds_table
from model import Scale

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

#: slot functions when dataset=csv
def split_text(text: str | tuple[str, ...], config: Config) -> tuple[str, ...]:
    """The texts of a line: one, or a tab-separated pair."""
    count = len(config.text_columns.split(","))
    texts = tuple(text.split("\t", count - 1)) if isinstance(text, str) else text
    if len(texts) != count:
        raise SystemExit(f"Write tab-separated pairs of texts, not {text!r}.")
    return texts

#: replace parts when dataset=csv
parts = [split_text(text, config) for text in texts]

#: slot text when dataset=csv
text = "\t".join(split_text(text, config))

#: slot files when dataset=csv
elif holds_objects(name) or holds_table(name):
    lines = read_lines(name, config.text_columns.split(","))
    texts += [read_texts(row, place, config) for place, row in lines]

#: slot functions when dataset=huggingface
def split_text(text: str | tuple[str, ...], config: Config) -> tuple[str, ...]:
    """The texts of a line: one, or a tab-separated pair."""
    count = len(config.text_columns.split(","))
    texts = tuple(text.split("\t", count - 1)) if isinstance(text, str) else text
    if len(texts) != count:
        raise SystemExit(f"Write tab-separated pairs of texts, not {text!r}.")
    return texts

#: replace parts when dataset=huggingface
parts = [split_text(text, config) for text in texts]

#: slot text when dataset=huggingface
text = "\t".join(split_text(text, config))

#: replace probabilities when labels=many
probabilities = model(**batch.to(device)).logits.cpu().double().sigmoid()

#: replace row when labels=many
likely = [name for name, prob in prob_of.items() if prob > 0.5]
row = {"text": text, "labels": ",".join(likely)}

#: replace names when labels=number
scale = Scale(model.config)

#: replace outputs when labels=number
predictions = scale.restore(model(**batch.to(device)).logits.cpu().double())
for text, prediction in zip(texts, predictions.tolist(), strict=True):
    #: slot text
    rows.append({"text": text, "prediction": prediction})

#: replace saved_model with lora
model = build_model(config, config.output_dir / "transformers" if config.lora_merge else None)

#: replace saved with lora
saved = config.output_dir / ("transformers" if config.lora_merge else "adapter")
