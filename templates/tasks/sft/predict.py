from data import read_messages
