"""PyTorch's allocator from a memory snapshot: replayed to the byte, and under other settings."""
