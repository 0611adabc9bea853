"""Rate limits of signing up and in, per address and per account; the settings use them.

Limits per address are settings, wide enough for a class behind one router. Those per account are
not: wrong passwords, e-mails to one address.
"""

from __future__ import annotations

WINDOW_SECONDS = 300
WRONG_PASSWORDS_PER_ACCOUNT = 5
LETTERS_PER_ADDRESS_AND_MINUTE = 5


def rates(*, sign_ups: int, sign_ins: int, wrong_passwords: int, resets: int) -> dict[str, str]:
    """Return allauth's limits; the arguments are for one address within five minutes."""

    def per_address(most: int) -> str:
        return f"{most}/{WINDOW_SECONDS}s/ip"

    return {
        "signup": per_address(sign_ups),
        "login": per_address(sign_ins),
        "login_failed": f"{per_address(wrong_passwords)},"
        f"{WRONG_PASSWORDS_PER_ACCOUNT}/{WINDOW_SECONDS}s/key",
        "reset_password": f"{per_address(resets)},{LETTERS_PER_ADDRESS_AND_MINUTE}/m/key",
        "reset_password_from_key": per_address(resets),
    }
