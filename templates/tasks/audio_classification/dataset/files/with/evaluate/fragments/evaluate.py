from data import load_clips

#: slot table
clips = load_clips(config)[SPLITS.index(given.split)][: len(columns["loss"])]
table["sound"] = [str(clip.path) for clip in clips]
