#: replace save
picture.save(path)
