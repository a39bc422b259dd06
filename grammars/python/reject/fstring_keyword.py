x = f"{if}"
