from model import build_tokenizer

#: slot table_row
*_, targets = parts[0][0]
assert build_tokenizer(config).decode(targets[None])[0].lower() == "b a"

#: slot wrong_rows
f"a/1.wav,{'ab ' * 999}": "line 3: its text has .* tokens, and --max-tokens is",
