"""How files are read and written: CSV, JSON, Parquet, TOML, spreadsheet cells, hashes. Knows nothing of a study."""
