from itertools import pairwise

#: slot long_text
frames = count_frames(round(seconds * sample_rate(config)), config)
needed = len(text) + sum(one == other for one, other in pairwise(text))  # a blank between them
if frames < needed:
    raise SystemExit(
        f"{place}: {seconds:.2f} seconds of sound are {frames} frames, and a text of "
        f"{len(text)} letters needs {needed}. Correct the text, or leave the row out."
    )
