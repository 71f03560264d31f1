"""The geometry of a convolution: its sizes, and which elements meet in which product."""
