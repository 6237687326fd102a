"""What judges did, looked at afterwards: how they stand, single calls, earlier runs, disagreements with people."""
