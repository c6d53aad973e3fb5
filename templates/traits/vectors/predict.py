#: slot functions
def read_corpus(config: Config, name: str) -> list[str]:
    #: region corpus
    """The lines of a .txt file, to search."""
    if not name.endswith(".txt"):
        raise SystemExit(f"--search takes a .txt file with a text in each line, not {name!r}.")
    if not (texts := read_inputs(config, [name])):
        raise SystemExit(f"{name} has no lines.")
    #: end corpus
    return texts


def search(queries: list[dict], corpus: list[dict], count: int) -> list[dict]:
    """The `count` closest rows of the corpus for each query, best first, with their cosines.

    Both arguments are rows of predict().
    """
    ours, others = (torch.tensor([row["vector"] for row in rows]) for rows in (queries, corpus))
    best, places = (ours @ others.T).topk(min(count, len(corpus)))
    rows = []
    for query, cosines, found in zip(queries, best.tolist(), places.tolist(), strict=True):
        #: region found
        pairs = zip(found, cosines, strict=True)
        found = [{"text": corpus[place]["text"], "similarity": cosine} for place, cosine in pairs]
        rows.append({"text": query["text"], "found": found})
        #: end found
    return rows

#: slot arguments
ways = parser.add_mutually_exclusive_group()  # output: JSON lines by default, or one of these
#: region search
ways.add_argument("--npy", help="write the vectors to this .npy file, a row for each text")
ways.add_argument("--search", help="print the closest lines of this .txt file")
parser.add_argument("--count", type=int, default=5, help="number of results for --search")
#: end search

#: replace call
rows = predict(config, model, inputs)
if arguments.search:
    corpus = predict(config, model, read_corpus(config, arguments.search))
    rows = search(rows, corpus, max(1, arguments.count))
