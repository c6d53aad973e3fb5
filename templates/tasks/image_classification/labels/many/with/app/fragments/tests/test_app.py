from data import class_names

#: replace expected
assert shown == pytest.approx({name: row[f"p_{name}"] for name in class_names(config)})
