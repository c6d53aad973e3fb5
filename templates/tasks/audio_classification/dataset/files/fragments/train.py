from data import load_clips

#: slot start_of_training
cut = sum(clip.seconds > config.seconds for part in load_clips(config) for clip in part)
if cut and not progress.step:  # a resumed run has said it already
    log(f"{cut} sounds are longer than --seconds: what is beyond is left out")
