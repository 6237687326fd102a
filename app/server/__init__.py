"""The HTTP side of the app: routes of ours, who may pass, headers, what every request came to, and how it ends."""
