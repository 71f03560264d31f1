"""Numbers to pictures: which panels there are, what they say, and their plotly figures. No widgets."""
