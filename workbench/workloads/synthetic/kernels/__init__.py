"""Which pages does a kernel touch? One kernel a file, by formula, at the granularity of warps after coalescing."""
