from lib.pairs import read_messages
