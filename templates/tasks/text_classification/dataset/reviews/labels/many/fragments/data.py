#: replace found
found[(text,)] = tuple(opinions)
