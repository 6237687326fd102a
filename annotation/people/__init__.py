"""Who comes in and as what: links, sign-ins, consent, training, standing, time and pay."""
