"""Statistics of plain columns and count tables: one definition of each, without intervals."""
