#: slot arguments
parser.add_argument("--length", type=int, default=200, help="maximum tokens of an answer")
