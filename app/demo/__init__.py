"""The demo studies, made from reports of our own with simulated annotators and judges."""
