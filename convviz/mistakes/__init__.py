"""The catalogue of mistakes, and what each would compute: for the checker, for audits and exercises, for the docs.

``catalogue.py`` reads ``facts/data/mistakes``; ``recipe_steps.py`` has the steps that a recipe chooses in;
``grad_input.py``, ``grad_weight.py`` and ``pooling.py`` compute by one.
"""
