"""What is before and between the real items: training, agreed answers, attention, and the gates they form."""
