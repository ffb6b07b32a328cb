"""Rules over a history: which alerts would have fired."""
