#: slot rows
return [
    {"row": number, "prediction": value}
    for number, value in enumerate(gather_object(outputs), start=1)
]
