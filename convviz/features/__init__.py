"""The tabs beside the board, one file each."""
