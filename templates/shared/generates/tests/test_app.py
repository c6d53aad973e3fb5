#: with generates
#: slot values
values = ["abc", 3]

#: slot expected
[row] = app.predict(config, model, ["abc"], 3)
assert shown == row["text"]
