import json

#: slot arguments
parser.add_argument("--json", action="store_true", help="print JSON lines, with the inputs")

#: slot write
if arguments.json:
    print(*map(json.dumps, rows), sep="\n")
else:
    print(*(row["text"] for row in rows), sep="\n")
