"""Total scores of reports, judge beside people: what published studies print of them."""
