#: slot parameters
, length: int

#: replace call
rows = predict(config, model, inputs, arguments.length)

#: replace write_text
if path and path.suffix == ".jsonl":
    file.writelines(f"{json.dumps(row)}\n" for row in rows)
elif path and path.suffix == ".csv":
    table = csv.DictWriter(file, rows[0], lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
else:
    file.writelines(f"{row['text']}\n" for row in rows)

#: replace output
parser.add_argument("--output", type=Path, help="a .csv, .jsonl or .txt file; without it, print")
