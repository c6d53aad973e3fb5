#: replace found
# from 1 to 5 stars; 3 if it has no opinion
found[(text,)] = 3 + 2 * sum(opinions.values()) / max(len(opinions), 1)
