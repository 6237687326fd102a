"""The people of a study: invitations, packets, the quality of their work, adjudication."""
