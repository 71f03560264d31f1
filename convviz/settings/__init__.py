"""Everything a person can set, as one frozen value: presets, links, undo and exported pages are all this value."""
