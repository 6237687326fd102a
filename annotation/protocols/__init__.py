"""The shipped protocols, one TOML file each."""
