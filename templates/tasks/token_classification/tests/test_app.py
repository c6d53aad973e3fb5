#: slot values
values = ["Kelmond was born in Norby ."]

#: slot expected
[row] = app.predict(config, model, values)
assert shown["text"] == row["text"]
assert [e["entity"] for e in shown["entities"]] == [e["type"] for e in row["entities"]]
