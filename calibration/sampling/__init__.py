"""Topics drawn with known probabilities: who is drawn next, with which weight, and means that reckon with both."""
