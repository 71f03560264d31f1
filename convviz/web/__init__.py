"""The page: its scripts and style sheets, a folder a layer, and what joins them into one module."""
