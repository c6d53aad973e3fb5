#: slot arguments
parser.add_argument("--length", type=int, default=200, help="the most tokens of an answer")
