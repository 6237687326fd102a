"""What a judge may decide without a person, and what goes on to a dearer judge or to people."""
