"""Reads the words in a PDF that Chromium printed; no more of the format than that needs."""

import re
import zlib

OBJECT = re.compile(rb"(?m)^(\d+) 0 obj\b(.*?)\bendobj", re.DOTALL)
STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
CHOSEN_OR_SHOWN = re.compile(rb"/F(\d+) [\d.]+ Tf|<([0-9A-Fa-f]+)> Tj")


def words_of(pdf):
    """Return the pieces of text in a PDF, one for each time that text is shown."""
    objects = {int(number): body for number, body in OBJECT.findall(pdf)}
    streams = {number: _unpacked(body) for number, body in objects.items()}
    fonts = {
        number: _letters(streams[int(named[1])])
        for number, body in objects.items()
        if (named := re.search(rb"/ToUnicode (\d+) 0 R", body))
    }
    words = []
    for text in streams.values():
        letters = {}
        for font, glyphs in CHOSEN_OR_SHOWN.findall(text):
            if font:
                letters = fonts[int(font)]  # Chromium names a font after its object
            else:
                words.append("".join(letters.get(glyph, "?") for glyph in _codes(glyphs)))
    return words


def _unpacked(body):
    found = STREAM.search(body)
    if not found or b"FlateDecode" not in body:
        return b""
    return zlib.decompressobj().decompress(found[1])


def _codes(digits):
    return [int(digits[start : start + 4], 16) for start in range(0, len(digits), 4)]


def _letters(table):
    """Return {glyph: letter} of a font's table: single glyphs, and runs of them."""
    found = {}
    for kind, block in re.findall(rb"beginbf(char|range)(.*?)endbf", table, re.DOTALL):
        for line in block.splitlines():
            codes = [int(code, 16) for code in re.findall(rb"<([0-9A-Fa-f]+)>", line)]
            if kind == b"char" and len(codes) == 2:
                found[codes[0]] = chr(codes[1])
            elif kind == b"range" and len(codes) == 3:
                found |= {glyph: chr(codes[2] + glyph - codes[0]) for glyph in range(codes[0], codes[1] + 1)}
    return found
