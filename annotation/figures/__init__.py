"""Pictures of reports: found, made alike, kept under names that say nothing, and given to who may see them."""
