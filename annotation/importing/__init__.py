"""What comes into a study from files: the layouts that are known, one line each, and agreed answers."""
