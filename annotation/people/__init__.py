"""Who comes in and as what: links, sign-ins, roles, consent, and the time that a page reported."""
