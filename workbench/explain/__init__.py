"""Why results come out as they do: blame, sensitivity, discovery, decisions, and bounds for every policy."""
