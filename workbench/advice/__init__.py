"""Advice from recorded memory: PyTorch's allocator, RMM's resources, and replays of what was requested."""
