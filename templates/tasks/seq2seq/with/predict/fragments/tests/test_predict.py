#: slot five
rows = predict.predict(config, model, ["3/14/1998", "4 May 1980", "", "x", "14.3.1998"], length=8)
