"""What can be asked of a convolution, at which settings, and what is right there: for the checker, courses, lessons.

``tasks.py`` has what a function takes and gives, and the truth by autograd; ``battery.py`` the settings that hide
nothing; ``same_padding.py`` those of "same"; ``further_questions.py`` what is asked beside the settings;
``random_cases.py`` further ones, ``stated_geometries.py`` a caller's own, ``settings_in_scope.py`` the limits.
"""
