"""What will be asked of whom: topics drawn, pairs made, sides tossed, slots written, rosters and quotas kept."""
