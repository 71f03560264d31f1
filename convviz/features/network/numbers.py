"""How the sizes of gradients are written: in powers of ten where they are far from 1."""

import math

from convviz.facts.format_numbers import MINUS

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NEAR = (1e-3, 1e4)  # between them a number is written as it is


def power(value: float, digits: int = 2) -> str:
    """Write a number with two digits, such as 0.12 or 3·10⁻¹⁰."""
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else f"{MINUS}inf"
    if value == 0:
        return "0"
    sign, size = MINUS if value < 0 else "", abs(value)
    mantissa, _, exponent = f"{size:.{digits - 1}e}".partition("e")
    if NEAR[0] <= size < NEAR[1]:
        places = max(0, digits - 1 - int(exponent))
        return sign + f"{size:.{places}f}"
    return f"{sign}{mantissa.removesuffix('.0')}·10{str(int(exponent)).translate(RAISED)}"
