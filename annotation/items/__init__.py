"""What an item shows and asks: its code, its texts, its questions, and its twin where two are rated in one view."""
