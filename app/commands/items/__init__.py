"""What is labelled: reports and labels come in, shown texts are audited, pairs and items are made."""
