from data import tokenize
from torch.utils.data import DataLoader
from transformers import AutoTokenizer

#: replace build
model = build_model(config, folder / "transformers")

#: slot before_batches
tokenizer, classes = build_tokenizer(config), model.config.id2label
#: region saved
saved = config.output_dir / "transformers"
#: end saved
if saved.is_dir():  # those of the run, if it has ended
    tokenizer = AutoTokenizer.from_pretrained(saved)
    classes = AutoConfig.from_pretrained(saved).id2label
names = classes.values()

#: slot batches
for texts in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    #: region parts
    parts = [(text,) for text in texts]
    #: end parts
    batch = tokenize(parts, tokenizer, config.max_length)
    probabilities = model(**batch.to(device)).logits.cpu().double().softmax(dim=1)
    for text, chances in zip(texts, probabilities.tolist(), strict=True):
        #: slot text
        chance_of = dict(zip(names, chances, strict=True))
        row = {"text": text, "label": max(chance_of, key=chance_of.get)}
        rows.append(row | {f"p_{name}": chance for name, chance in chance_of.items()})
