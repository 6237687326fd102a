"""How people answer: beside each other, one left out, over time, and who needs a second look."""
