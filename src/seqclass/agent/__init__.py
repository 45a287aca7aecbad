"""What a fitted classifier does with a case: code it, acquire, decide, explain."""
