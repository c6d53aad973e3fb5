#: replace by
parser.add_argument("--by", metavar="NAME", help="class, or a column of samples.csv: metrics of each")
