from data import count_seconds

#: slot start_of_training
for part, rows in zip(("validation", "test"), load_rows(config)[1:], strict=True):
    cut = sum(row.seconds > count_seconds(config) for row in rows)
    if cut and not progress.step:
        log(f"{cut} sounds of the {part} data are cut to {count_seconds(config)} seconds")
