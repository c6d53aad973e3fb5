from data import load_clips

#: slot start_of_training
if cut := sum(clip.seconds > config.seconds for part in load_clips(config) for clip in part):
    log(f"{cut} sounds are longer than --seconds: what is beyond is left out")
