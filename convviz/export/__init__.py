"""One-file pages in which the board lives on without Python."""
