from data import class_names, load_clips

#: replace logits
logits = model(inputs, lengths)

#: replace names
names = class_names(config)

#: slot table when dataset=files
clips = load_clips(config)[SPLITS.index(given.split)][: len(columns["loss"])]
table["sound"] = [str(clip.path) for clip in clips]
