"""The operators and their gradients: torch only, one operation a file."""
