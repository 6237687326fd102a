"""How far raters agree: people, judges, panels and a person left out."""
