from data import list_letters

#: slot table_row
letters = list_letters(config)
assert letters[:2] == ["", " "] and {"a", "b"} <= {letter.lower() for letter in letters}
sound, text = parts[0][0]
assert "".join(letters[number] for number in text).lower() == "b a" and len(sound) > 1

#: slot wrong_rows
f"a/1.wav,{'abc' * 99}": "line 3: 1.00 seconds of sound are .* letters needs 297",
f"a/1.wav,{'a' * 30}": "line 3: .* a text of 30 letters needs 59",
