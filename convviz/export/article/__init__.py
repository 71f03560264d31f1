"""The article: one page of text whose picture follows the reader. ``sections.json`` says what each section shows.

The sentences are ``facts/data/words/article.json``. No core module knows it but the site, whose front page it is.
"""
