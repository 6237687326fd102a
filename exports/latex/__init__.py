"""A table on paper: any text as TeX, widths, columns and pages."""
