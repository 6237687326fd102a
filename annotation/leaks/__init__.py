"""What a shown text may still tell of its maker: provenance, self-identification, residue, layout. Pure."""
