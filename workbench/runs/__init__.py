"""One run: its row, its origin, the user's code in it, and the worker that simulates it."""
