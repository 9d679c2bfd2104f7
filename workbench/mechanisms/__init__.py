"""An engine with its measures and events, how it is compiled, and the measures that users add."""
