"""What courses need beside a checker: audits of their own checks, and exercises for paper.

``audit.py`` hands a check functions that are wrong (``audit_functions.py`` makes them); ``find_exercise.py`` looks for
the smallest setting that shows chosen mistakes, ``exercise_sheet.py`` writes it with the sums of ``sums_by_hand.py``.
"""
