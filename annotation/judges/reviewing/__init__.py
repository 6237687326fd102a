"""What judges did, looked at afterwards: how far they are, single calls, earlier runs, disagreements with people."""
