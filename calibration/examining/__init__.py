"""What a file of labels holds and can answer, before anybody trusts it."""
