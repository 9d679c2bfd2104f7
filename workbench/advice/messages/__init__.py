"""Out-of-memory messages: what a request that failed says about its cause, without a recording."""
