"""Files of tables and of names: read whole or refused, written whole or not at all."""
