#: slot row
if None in values:
    raise SystemExit("Choose a sound first.")
[row] = predict(config, model, [Path(values[0])])
