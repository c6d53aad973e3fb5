from data import load_clips

#: slot start_of_training
cut = sum(clip.seconds > config.seconds for part in load_clips(config) for clip in part)
if cut and not progress.step:  # a resumed run already logged it
    log(f"{cut} sounds are longer than --seconds: the rest is cut")
