DIGITS = [f"d{i}" for i in range(10)]
