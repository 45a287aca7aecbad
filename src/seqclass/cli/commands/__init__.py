"""What each command takes: light, so that its help and a slip in its options are answered at once."""
