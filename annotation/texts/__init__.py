"""A report as mere text: places in it, code and formulas that are left alone, scripts, sentences. Pure."""
