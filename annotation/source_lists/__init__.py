"""Lists of sources in a report: their headings, entries, captions and ends, and the keys they prove. Pure."""
