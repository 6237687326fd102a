"""Work without the server: packets that are taken home, ballots that come back, and how each is signed."""
