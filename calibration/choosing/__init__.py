"""What decides for or against a judge: candidates, gaps to a left-out person, margins, cascades, the sentence."""
