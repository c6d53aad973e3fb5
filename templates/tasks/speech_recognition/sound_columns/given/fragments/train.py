from data import load_rows

#: slot start_of_training
cut = sum(row.seconds > config.seconds for row in load_rows(config)[0])
if cut and not progress.step:  # a resumed run already logged it
    log(f"{cut} sounds of the training data are longer than --seconds and left out")
