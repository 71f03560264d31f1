"""Questions whose answers can be read: single ones, one window, twice as much.

Read in this order: ``one_hot_probes.py`` (what is asked), ``traced_products.py`` (which products came), ``analysis.py``
(how they lie); ``linearity.py`` tries what that takes for granted.
"""
