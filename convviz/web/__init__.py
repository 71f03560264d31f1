"""The board: one widget that draws linked heatmaps. It knows panels and cells, not convolution."""
