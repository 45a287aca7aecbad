"""Free problems as finitely many states: what files and other toolkits need of them."""
