"""Parse the numbers that people type, exactly; and the definition of tolerance.

Values are fractions of integers, so that binary rounding decides nothing at a boundary. Irrational
roots, exp, ln, pi and e carry 60 digits. Expressions are parsed by a grammar of five rules, with
limits on length, depth and size; nothing that is typed is ever run.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable, Iterator
from decimal import Context, Decimal
from fractions import Fraction

from .number_characters import CharacterError, named, plain_characters

MAX_NUMBER_CHARACTERS = 100
MAX_NUMBER_BITS = 4096
MAX_DEPTH = 40
MAX_EXPONENT = 1000
ROOT_SCALE = 10**60

CONSTANTS = {
    "pi": Fraction("3.14159265358979323846264338327950288419716939937510582097494"),
    "e": Fraction("2.71828182845904523536028747135266249775724709369995957496697"),
}

_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_ALLOWED = frozenset("0123456789abcdefghijklmnopqrstuvwxyz.()+*/ -")
_LITERAL = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,3})?")
_WORD = re.compile(rf" *({_LITERAL.pattern}|\*\*|[a-z]+|[()+*/-]) *")
_SIGNED_LITERAL = re.compile(rf"([+-]?) *({_LITERAL.pattern})")
_DECIMAL_COMMA = re.compile(r"(?<![0-9.,])([0-9]+),([0-9]+)(?![0-9.,])")
# 65,504 is a whole number to one reader and a decimal to another; 0,504 and 65,5 are decimals.
# Behind a group that a space ends, it is a decimal comma: 1 234,567.
_THOUSANDS_COMMA = re.compile(
    r"(?<![0-9.,])(?<![0-9] )[1-9][0-9]{0,2}(?:,[0-9]{3})+(?![0-9,])(?:\.[0-9]+)?"
)
_THOUSANDS_POINT = re.compile(r"(?<![0-9.,])[1-9][0-9]{0,2}(?:\.[0-9]{3})+(?:,[0-9]+|\.[0-9]{3})")
_RAISED_POINT = re.compile("(?<![\\d.,])0\u00b7\\d+")
_MIXED_NUMBER = re.compile(r"(?<![0-9.)])([0-9]+) *\( *([0-9]+ */ *[0-9]+) *\)")
_THOUSANDS_SPACE = re.compile(r"(?<=[0-9]) (?=[0-9]{3}(?![0-9]))")
_ROOT_SIGN = re.compile(r"\u221a *([0-9.]+|pi)")
_ROOT_OF_A_PRODUCT = re.compile(r"\u221a *[0-9.]+ *(?=[a-z(\u221a])")


class NumberError(ValueError):
    """A text that is not a number; the message says so, with an example."""

    def __init__(self, text: str, reason: str = "") -> None:
        shown = text if len(text) <= 40 else f"{text[:40]}…"
        because = f" ({reason})" if reason else ""
        super().__init__(
            f"“{shown}” cannot be read as a number{because}; "
            "write for example 0.25, 1/4 or sqrt(2)/3."
        )


class AmbiguousCommaError(NumberError):
    """A comma that may separate thousands or decimals: no answer is judged by a guess.

    `whole` is the only sensible reading, where there is one.
    """

    def __init__(self, number: str, whole: str = "") -> None:
        decimals = number.replace(",", ".")
        plain = not whole and decimals.count(".") == 1
        whole = whole or number.replace(",", "")
        ValueError.__init__(
            self,
            f"“{number}” can mean {whole} or {decimals}. Write {whole}, or {decimals} with a point."
            if plain
            else f"“{number}” cannot be read with its marks of thousands. Write {whole}.",
        )


class AmbiguousError(NumberError):
    """A text with several meanings; the message says how to write each."""

    def __init__(self, text: str, *meanings: str) -> None:
        either = " or ".join(meanings)
        ValueError.__init__(self, f"“{text}” can mean {either}. Write the one that you mean.")


def read_number(text: str, refuse_ambiguous: bool = True) -> Fraction:
    """Return the value of `text`: a decimal number, a fraction, or a small expression.

    Accepts decimal point or comma, powers of ten (1e-3), spaces, + - * / ** ^ and brackets, sqrt(),
    abs(), exp(), ln() or log(), pi and e, implicit products (2pi), and whatever `plain_characters`
    normalises. Raises `NumberError` for anything else, naming the unknown character or word, and
    for ambiguous texts (`AmbiguousError`, `AmbiguousCommaError`). Where `refuse_ambiguous` is
    False, as for answers stored earlier, a single comma that may separate thousands is a decimal
    comma.
    """
    if len(text) > MAX_NUMBER_CHARACTERS:
        raise NumberError(text, f"longer than {MAX_NUMBER_CHARACTERS} characters")
    try:
        plain = plain_characters(text).strip().translate(_LOWER)
    except CharacterError as error:
        raise NumberError(text, str(error)) from error
    if refuse_ambiguous:
        _refuse_ambiguous(text, plain)
    plain = _normalise(plain, text)
    literal = _SIGNED_LITERAL.fullmatch(plain)
    if literal:
        value = _bounded(Fraction(literal[2]), text)
        return -value if literal[1] == "-" else value
    unknown = next((character for character in plain if character not in _ALLOWED), None)
    if unknown:
        raise NumberError(text, f"{named(unknown)} is not known here")
    return _value(plain, text)


def within_tolerance(given: Fraction, answer: Fraction, tolerance: Fraction) -> bool:
    """|given - answer| <= tolerance * max(1, |answer|), exactly; the boundary is right."""
    return abs(given - answer) <= tolerance * max(Fraction(1), abs(answer))


def _refuse_ambiguous(text: str, plain: str) -> None:
    if comma := _THOUSANDS_COMMA.search(plain):
        raise AmbiguousCommaError(comma[0])
    if point := _RAISED_POINT.search(text):
        raise AmbiguousError(point[0], point[0].replace("\u00b7", "."), "a product with 0")
    if mixed := _MIXED_NUMBER.search(plain):
        raise AmbiguousError(mixed[0], f"{mixed[1]} + {mixed[2]}", f"{mixed[1]} * ({mixed[2]})")


def _normalise(plain: str, text: str) -> str:
    if points := _THOUSANDS_POINT.search(plain):
        raise AmbiguousCommaError(points[0], points[0].replace(".", "").replace(",", "."))
    if "." not in plain:
        plain = _DECIMAL_COMMA.sub(r"\1.\2", plain)
    if root := _ROOT_OF_A_PRODUCT.search(plain):
        raise NumberError(text, f"“{root[0].strip()}” needs brackets about all that is in the root")
    plain = _ROOT_SIGN.sub(r"sqrt(\1)", plain).replace("\u221a", "sqrt").replace("^", "**")
    return _THOUSANDS_SPACE.sub("", plain)


def _value(plain: str, text: str) -> Fraction:
    """Evaluate an expression; anything outside of the grammar of `_Reader` is refused."""
    reader = _Reader(plain, text)
    value = reader.sum()
    if reader.next == ")":
        raise NumberError(text, "a bracket is closed that was not opened")
    if reader.next is not None:
        raise NumberError(text, f"a sign is missing before “{reader.next}”")
    return value


class _Reader:
    """Reads an expression from left to right, one word ahead, and computes it on the way.

    sum     = product (("+" | "-") product)*
    product = signed (("*" | "/") signed | power)*
    signed  = ("+" | "-") signed | power
    power   = atom ["**" signed]
    atom    = number | constant | function "(" sum ")" | "(" sum ")"

    A product needs no sign where what follows cannot be part of what is before: 2pi, 3(1+2).
    """

    def __init__(self, plain: str, text: str) -> None:
        self.text = text
        self.words = _words(plain, text)
        self.depth = 0
        self.next: str | None = None
        self.last: str | None = None
        self.is_exponent_bare = False
        self.advance()

    def advance(self) -> None:
        self.last, self.next = self.next, next(self.words, None)

    def take(self, *wanted: str) -> str:
        """Return the next word and advance if it is one of these, else return an empty string."""
        word = self.next
        if word is None or word not in wanted:
            return ""
        self.advance()
        return word

    def sum(self) -> Fraction:
        value = self.product()
        while sign := self.take("+", "-"):
            other = self.product()
            value = _bounded(value + other if sign == "+" else value - other, self.text)
        return value

    def product(self) -> Fraction:
        value, sign = self.signed(), ""
        while self.is_factor_next() or self.next in ("*", "/"):
            if self.is_factor_next():
                self.refuse_unclear_factor(sign)
            sign = self.take("*", "/")
            other = self.signed()
            if sign == "/" and other == 0:
                raise NumberError(self.text, "it divides by zero")
            value = _bounded(value / other if sign == "/" else value * other, self.text)
        return value

    def is_factor_next(self) -> bool:
        """Return whether an unmistakable factor follows without a sign."""
        if self.next != "(" and self.next != "pi" and self.next not in FUNCTIONS:
            return False
        if self.last == "pi":
            return self.next != "pi"
        return self.last == ")" or bool(self.last and _LITERAL.fullmatch(self.last))

    def refuse_unclear_factor(self, sign: str) -> None:
        if sign == "/":
            raise NumberError(
                self.text,
                "what follows a division is not clear; write * or brackets, as in 1/(2*pi)",
            )
        if self.is_exponent_bare:
            raise NumberError(self.text, "where the exponent ends is not clear; put it in brackets")

    def signed(self) -> Fraction:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise NumberError(self.text, "it is nested too deeply")
        sign = self.take("+", "-")
        value = self.signed() if sign else self.power()
        self.depth -= 1
        return -value if sign == "-" else value

    def power(self) -> Fraction:
        base = self.next
        value = self.atom()
        self.is_exponent_bare = False
        if not self.take("**"):
            return value
        exponent = self.signed()
        self.is_exponent_bare = self.last != ")"
        # e^x is exp(x), for any x; every other base needs an exponent that keeps it exact.
        return _exp(exponent, self.text) if base == "e" else _power(value, exponent, self.text)

    def atom(self) -> Fraction:
        word = self.next
        if word is None:
            raise NumberError(self.text, "something is missing at its end" if self.last else "")
        self.advance()
        if word in CONSTANTS:
            return CONSTANTS[word]
        if word in FUNCTIONS and self.next == "(":
            return FUNCTIONS[word](self.atom(), self.text)
        if word == "(":
            value = self.sum()
            if not self.take(")"):
                raise NumberError(self.text, "a bracket is not closed")
            return value
        if word in FUNCTIONS:
            raise NumberError(self.text, f"{word} needs brackets, as in {word}(2)")
        if not _LITERAL.fullmatch(word):
            raise NumberError(self.text, f"“{word}” is not known here")
        return _bounded(Fraction(word), self.text)


def _words(plain: str, text: str) -> Iterator[str]:
    place = 0
    while place < len(plain):
        match = _WORD.match(plain, place)
        if not match:
            raise NumberError(text, f"“{plain[place]}” does not fit there")
        place = match.end()
        yield match[1]


def _power(base: Fraction, exponent: Fraction, text: str) -> Fraction:
    """Whole and half exponents; the size of the result is checked before it is computed."""
    if exponent.denominator == 2:
        base, exponent = _root(base, text), exponent * 2
    if exponent.denominator != 1:
        raise NumberError(text, "an exponent must be a whole number or a half")
    if base == 0 and exponent < 0:
        raise NumberError(text, "it divides by zero")
    times = abs(exponent.numerator)
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if bits * times > MAX_NUMBER_BITS:
        raise NumberError(text, "it is too large or too exact")
    return base**exponent.numerator


def _root(value: Fraction, text: str) -> Fraction:
    """The square root: exact where it is rational, else correct to 60 digits."""
    if value < 0:
        raise NumberError(text, "the root of a negative number")
    numerator, denominator = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if numerator**2 == value.numerator and denominator**2 == value.denominator:
        return Fraction(numerator, denominator)
    product = value.numerator * value.denominator
    return _bounded(
        Fraction(math.isqrt(product * ROOT_SCALE**2), value.denominator * ROOT_SCALE), text
    )


def _bounded(value: Fraction, text: str) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_NUMBER_BITS:
        raise NumberError(text, "it is too large or too exact")
    return value


def _exp(value: Fraction, text: str) -> Fraction:
    """Return e to the power of any number of moderate size."""
    if abs(value) > MAX_EXPONENT:
        raise NumberError(text, "it is too large or too exact")
    return _bounded(Fraction(_decimal(value).exp(_DIGITS)), text)


def _ln(value: Fraction, text: str) -> Fraction:
    """The natural logarithm, which NumPy calls log."""
    if value <= 0:
        raise NumberError(text, "the logarithm needs a number above zero")
    return _bounded(Fraction(_decimal(value).ln(_DIGITS)), text)


def _decimal(value: Fraction) -> Decimal:
    return _DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))


_DIGITS = Context(prec=60)
FUNCTIONS: dict[str, Callable[[Fraction, str], Fraction]] = {
    "sqrt": _root,
    "abs": lambda value, text: abs(value),
    "exp": _exp,
    "ln": _ln,
    "log": _ln,
}
