größe = 1
