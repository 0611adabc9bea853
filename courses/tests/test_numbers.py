"""Numbers are parsed exactly, and tolerance has one definition."""

from __future__ import annotations

import contextlib
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from courses.quiz.numbers import NumberError, read_number, within_tolerance

THIRD = Fraction(1, 3)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.25", Fraction(1, 4)),
        (" 12 ", 12),
        ("1e-3", Fraction(1, 1000)),
        ("1E-3", Fraction(1, 1000)),
        ("+2.5e2", 250),
        (".5", Fraction(1, 2)),
        ("5.", 5),
        ("0,001", Fraction(1, 1000)),
        ("-0,5", Fraction(-1, 2)),
        ("sqrt(0,25)", Fraction(1, 2)),
        ("2,7386", Fraction(27386, 10000)),
        ("65,5", Fraction(131, 2)),
        ("0,504", Fraction(504, 1000)),
        ("1234,567", Fraction(1234567, 1000)),
        ("1/3", THIRD),
        (" 1 / 3 ", THIRD),
        ("\u22120.5", Fraction(-1, 2)),
        ("- 3", -3),
        ("1 000 000", 1_000_000),
        ("1\u202f000", 1000),
        ("2**-3", Fraction(1, 8)),
        ("2^-3", Fraction(1, 8)),
        ("-2**2", -4),
        ("4**0.5", 2),
        ("sqrt(16)/4", 1),
        ("Sqrt(9/16)", Fraction(3, 4)),
        ("\u221a16", 4),
        ("\u221a(16)", 4),
        ("2\u00d73", 6),
        ("6\u00f74", Fraction(3, 2)),
        ("abs(-2)", 2),
        ("2*(1+3)-1", 7),
        ("007", 7),
        ("2.73861297010001032", Fraction("2.73861297010001032")),
        ("1 234,5", Fraction(12345, 10)),
        ("1 234,567", Fraction(1234567, 1000)),
        ("\u221a0,25", Fraction(1, 2)),
        ("2(1+3)", 8),
        ("(1+2)(3)", 9),
        ("2sqrt(9)", 6),
        ("2\u221a9", 6),
        ("2(3)^2", 18),
        ("1.5x10^-3", Fraction(15, 10_000)),
        ("1'000'000", 1_000_000),
        ("1\u2019000", 1000),
    ],
)
def test_parses_numbers_as_people_write_them(text: str, value: Fraction | int) -> None:
    assert read_number(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # Not to be seen: pasted along with a number.
        ("0.25\u200b", Fraction(1, 4)),
        ("\u200e0.25", Fraction(1, 4)),
        ("\ufeff0.25\u00a0", Fraction(1, 4)),
        ("\u206612\u2069", 12),
        ("1\u00ad000", 1000),
        ("12\ufe0f", 12),
        ("\u30001\u2003/\u20094\u2028", Fraction(1, 4)),
        # Digits and signs of other scripts and styles.
        ("\uff10\uff0e\uff12\uff15", Fraction(1, 4)),
        ("\uff0d\uff10\uff0c\uff15", Fraction(-1, 2)),
        ("\uff11\uff45\uff0d\uff13", Fraction(1, 1000)),
        ("\u0660\u066b\u0662\u0665", Fraction(1, 4)),
        ("\u0661\u066c\u0660\u0660\u0660", 1000),
        ("\u0967\u0968", 12),
        ("\U0001d7cf\U0001d7d0", 12),
        ("5e\u22123", Fraction(5, 1000)),
        ("\u20105", -5),
        ("\u20145", -5),
        ("2\u22c53", 6),
        ("2\u22173", 6),
        ("2\u20623", 6),
        ("1\u20442", Fraction(1, 2)),
        # Exponents and fractions of one character.
        ("10\u207b\u00b3", Fraction(1, 1000)),
        ("1.5\u00b710\u207b\u00b3", Fraction(15, 10_000)),
        ("1,5\u00d710\u207b\u00b3", Fraction(15, 10_000)),
        ("1.5x10\u207b\u00b3", Fraction(15, 10_000)),
        ("10^\u207b\u00b3", Fraction(1, 1000)),
        ("2\u00b9\u2070", 1024),
        ("-2\u00b2", -4),
        ("\u00bd", Fraction(1, 2)),
        ("-1\u00bd", Fraction(-3, 2)),
        ("2 \u2154", Fraction(8, 3)),
        ("3/\u00bd", 6),
        ("\u221a\u00bc", Fraction(1, 2)),
        ("\u00b9\u2044\u2083", THIRD),
        ("1\u00b9\u2044\u2082", Fraction(3, 2)),
    ],
)
def test_parses_numbers_pasted_or_typed_on_other_keyboards(
    text: str, value: Fraction | int
) -> None:
    assert read_number(text) == value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2pi", "6.28318530717958647692528676655901"),
        ("3\u03c0", "9.42477796076937971538793014983851"),
        ("2\u03c0/3", "2.09439510239319549230842892218634"),
        ("\U0001d6d1", "3.14159265358979323846264338327950"),
        ("2pi\u00b2", "19.7392088021787172376689819997523"),
        ("10\u207b\u00b3pi", "0.00314159265358979323846264338327950"),
        ("e\u207b\u00b9", "0.36787944117144232159552377016146"),
        ("sqrt(30)/4", "1.36930639376291528364242445700200"),
        ("pi", "3.14159265358979323846264338327950"),
        ("\u03c0/2", "1.57079632679489661923132169163975"),
        ("sqrt(1e-200)", "1e-100"),
        ("2**0.5", "1.41421356237309504880168872420969"),
        ("2*pi", "6.28318530717958647692528676655901"),
        ("e^-1", "0.36787944117144232159552377016146"),
        ("e^(1/3)", "1.39561242508608952862812531960259"),
        ("exp(-1)", "0.36787944117144232159552377016146"),
        ("ln(10)", "2.30258509299404568401799145468436"),
        ("-log(1/1000)", "6.90775527898213705205397436405309"),
    ],
)
def test_roots_and_constants_are_right_to_thirty_digits(text: str, expected: str) -> None:
    relative = abs(read_number(text) / Fraction(expected) - 1)
    assert relative < Fraction(1, 10**30)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "abc",
        "1,2,3",
        "1.2.3",
        "1 2",
        "0x10",
        "1_000",
        "inf",
        "nan",
        "1e",
        "1e9999",
        "1/0",
        "0**-1",
        "sqrt(-1)",
        "2**(1/3)",
        "exp(10**9)",
        "e^(10^9)",
        "ln(0)",
        "log(-1)",
        "exp",
        "exp 2",
        "2e",
        "1 e-3",
        "e(2)",
        "-" * 50 + "1",
        "(" * 45 + "1" + ")" * 45,
        "9**9**9",
        "(1+1e-300)**400",
        "__import__('os')",
        "().__class__",
        "sqrt(4).real",
        "sqrt(4, 9)",
        "sqrt(*pi)",
        "max(1)",
        "1 if 1 else 2",
        "lambda: 1",
        "[1]",
        "1j",
        "True",
        "'1'",
        "1 < 2",
        "1\x00",
        "0x10^3",
        "(" * 99,
        "1+" * 60,
    ],
)
def test_refuses_everything_else_in_words(text: str) -> None:
    with pytest.raises(NumberError, match="cannot be read as a number") as caught:
        read_number(text)
    assert "write for example 0.25, 1/4 or sqrt(2)/3." in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("25%", "“%” (U+0025, percent sign)"),
        ("25\uff05", "“%” (U+0025, percent sign)"),
        ("\u00b11", "“\u00b1” (U+00B1, plus-minus sign)"),
        ("\u216b", "“\u216b” (U+216B, roman numeral twelve)"),
        ("\u2460", "U+2460"),
        ("log\u2082(8)", "U+2082, subscript two"),
        ("\u00b2", "U+00B2, superscript two"),
        ("\u00ad5", "U+00AD, soft hyphen"),
        ("5\u20633", "U+2063, invisible separator"),
        ("1\x02", "U+0002"),
        ("5\u20ac", "U+20AC, euro sign"),
        ("1,2,3", "“,” (U+002C, comma)"),
        ("abc", "“abc” is not known"),
        ("1.5\u00bd", "the fraction 1/2 stands right after another value"),
        ("2\u00b3\u221a8", "may belong to the number or to the root"),
        # What can be meant in two ways is never guessed at.
        ("1/2pi", "what follows a division is not clear"),
        ("6/2(1+2)", "what follows a division is not clear"),
        ("2^3pi", "where the exponent ends is not clear"),
        ("\u221a2\u03c0", "needs brackets"),
        ("pi2", "a sign is missing before “2”"),
        ("1 2", "a sign is missing before “2”"),
        ("(2", "a bracket is not closed"),
        ("2)", "a bracket is closed that was not opened"),
        ("2+", "something is missing at its end"),
    ],
)
def test_a_refusal_names_the_unknown_character(text: str, said: str) -> None:
    with pytest.raises(NumberError, match="cannot be read as a number") as caught:
        read_number(text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 (2/3)", "1 + 2/3 or 1 * (2/3)"),
        ("0\u00b725", "“0\u00b725” can mean 0.25 or a product with 0."),
        ("1.234,5", "Write 1234.5."),
        ("1.234.567", "Write 1234567."),
        ("\uff11,000", "“1,000” can mean 1000 or 1.000."),
        ("1,000", "“1,000” can mean 1000 or 1.000. Write 1000, or 1.000 with a point."),
        ("65,504", "Write 65504, or 65.504 with a point."),
        ("13,781", "Write 13781, or 13.781 with a point."),
        ("-2,739", "Write 2739, or 2.739 with a point."),
        ("sqrt(1,000)/2", "“1,000” can mean 1000 or 1.000."),
        ("2*1,000", "“1,000” can mean 1000 or 1.000."),
        ("1,000,000", "Write 1000000."),
        ("1,234.5", "Write 1234.5."),
        ("1,000e3", "“1,000” can mean 1000 or 1.000."),
    ],
)
def test_ambiguous_numbers_are_refused_with_both_readings(text: str, said: str) -> None:
    with pytest.raises(NumberError) as caught:
        read_number(text)
    assert said in str(caught.value)


def test_stored_answers_with_an_ambiguous_comma_keep_their_reading() -> None:
    assert read_number("2,739", refuse_ambiguous=False) == Fraction(2739, 1000)


def test_a_tower_of_powers_is_refused_before_it_is_computed() -> None:
    with pytest.raises(NumberError, match="too large"):
        read_number("10**10**8")


@given(st.text(max_size=120))
def test_any_text_is_a_number_or_a_number_error(text: str) -> None:
    with contextlib.suppress(NumberError):
        assert isinstance(read_number(text), Fraction)


@given(
    st.text(
        alphabet="0123456789.,+-*/^() esqrtpiab\u00b2\u207b\u00bd\u2044\u221a\u2082\u00b7",
        max_size=30,
    )
)
def test_any_expression_is_a_number_or_a_number_error(text: str) -> None:
    with contextlib.suppress(NumberError):
        assert isinstance(read_number(text), Fraction)


DECIMALS = st.decimals(
    min_value=-(10**9), max_value=10**9, places=6, allow_nan=False, allow_infinity=False
)
TOLERANCES = st.decimals(min_value=0, max_value=Decimal("0.5"), places=6)


@given(DECIMALS)
def test_every_decimal_reads_as_itself(number: Decimal) -> None:
    assert read_number(str(number)) == Fraction(number)
    assert read_number(f"{number:f}".replace(".", ",")) == Fraction(number)


@given(DECIMALS, TOLERANCES, st.sampled_from([-1, 1]))
def test_the_boundary_is_right_and_the_next_decimal_is_wrong(
    answer: Decimal, tolerance: Decimal, side: int
) -> None:
    exact, width = Fraction(answer), Fraction(tolerance) * max(1, abs(Fraction(answer)))
    assert within_tolerance(exact + side * width, exact, Fraction(tolerance))
    beyond = exact + side * (width + Fraction(1, 10**30))
    assert not within_tolerance(beyond, exact, Fraction(tolerance))


@given(DECIMALS, DECIMALS, TOLERANCES)
def test_tolerance_has_the_printed_meaning(given: Decimal, answer: Decimal, tol: Decimal) -> None:
    expected = abs(given - answer) <= tol * max(Decimal(1), abs(answer))
    assert within_tolerance(Fraction(given), Fraction(answer), Fraction(tol)) is expected


def test_decimal_steps_at_the_boundary_do_not_fall_to_binary_rounding() -> None:
    """46.0 against 45.8 with a tolerance of 0.2: in binary floating point this is wrong."""
    answer, tolerance = read_number("45.8"), read_number("0.2") / read_number("45.8")
    assert within_tolerance(read_number("46.0"), answer, tolerance)
