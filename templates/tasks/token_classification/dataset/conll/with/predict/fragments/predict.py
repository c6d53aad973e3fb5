from data import check_keys, check_sentence, read_objects

#: slot files
elif name.endswith(".jsonl"):
    for place, row in read_objects(name):
        check_keys(row, [config.words_column], place)
        words = row[config.words_column]
        texts.append(check_sentence(words, ["O"] * len(words), place)[0])
