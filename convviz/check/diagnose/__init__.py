"""What is wrong: a mistake of the catalogue, what a call leaves behind, or what the numbers themselves say.

Read in this order: ``explain.py``, ``by_catalogue.py``, ``explain_numbers.py``; the others are one kind of reason each.
"""
