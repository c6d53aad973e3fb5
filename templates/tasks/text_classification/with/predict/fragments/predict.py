from data import build_tokenizer, tokenize
from torch.utils.data import DataLoader
from transformers import AutoConfig, AutoTokenizer

#: slot before_batches
tokenizer, classes = build_tokenizer(config), model.config.id2label
if (saved := config.output_dir / "transformers").is_dir():  # those of the run, if it has ended
    tokenizer = AutoTokenizer.from_pretrained(saved)
    classes = AutoConfig.from_pretrained(saved).id2label
names = list(classes.values())

#: slot batches
for texts in DataLoader(share, 4 * config.batch_size, collate_fn=list):
    #: region columns
    columns = [(text,) for text in texts]
    #: end columns
    batch = tokenize(columns, tokenizer, config.max_length)
    logits = model(**batch.to(device)).logits
    outputs += logits.cpu().double().softmax(dim=1).tolist()

#: slot rows
rows, chance_of = [], [f"p_{name}" for name in names]
for text, chances in zip(inputs, gather_object(outputs), strict=True):
    #: slot text
    label, named = names[chances.index(max(chances))], zip(chance_of, chances, strict=True)
    rows.append({"text": text, "label": label, **dict(named)})
return rows
