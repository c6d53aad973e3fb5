#: slot row
if None in values:
    raise SystemExit("Choose an image first.")
[row] = predict(config, model, [*values])
