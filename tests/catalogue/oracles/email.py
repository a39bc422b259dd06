"""E-mail addresses: the package `email-validator`, without asking name servers."""

from __future__ import annotations

from email_validator import EmailNotValidError, validate_email


def complaint(text: str) -> str | None:
    try:
        validate_email(text, check_deliverability=False, strict=True)
    except EmailNotValidError as error:
        return str(error)
    return None
