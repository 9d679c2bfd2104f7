"""What a dashboard shows: the layout of a memory over time, lines and histogram, a table of measures, a sentence."""
