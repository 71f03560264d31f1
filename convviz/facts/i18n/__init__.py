"""The engine that translates the facts: whose language it is, and what its gettext catalogue in ``languages/`` says.

``update_catalogues`` writes the catalogues, ``read_po`` reads them, ``translation`` applies one to a file of facts,
``current_language`` knows the caller's language, and ``choose_language`` finds the one that a visitor asks for.
"""
