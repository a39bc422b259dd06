x = lambda: y = 1
