"""The article: one page of text whose picture follows the reader. ``sections.json`` says what each section shows.

The sentences are ``facts/words/article.json``. Core modules do not know it, but for the site, whose front page it is.
"""
