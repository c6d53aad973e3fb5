from data import load_texts

#: slot table
rows = load_texts(config)[SPLITS.index(given.split)][: len(columns["loss"])]
table.setdefault("text", [" | ".join(texts) for texts, _ in rows])
