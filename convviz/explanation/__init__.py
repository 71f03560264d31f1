"""Numbers turned into teaching steps: what the app explains beside the picture, as plain data."""
