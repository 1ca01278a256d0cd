"""What guards share links beside their tokens: passwords and tries at them."""
