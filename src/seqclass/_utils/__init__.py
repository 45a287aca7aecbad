"""What every part may use, and which uses none of them."""
