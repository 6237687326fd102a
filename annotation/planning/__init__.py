"""What will be asked of whom, as rows: planned items, slots, reserved work, and the plan's hash and summary."""
