#: replace by
parser.add_argument("--by", metavar="NAME", help="metrics per class, or per value of a column")
