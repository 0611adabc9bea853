"""Cursor pagination by the values of the last row shown, so that new rows shift nothing.

The order always ends in the row's number, so it is total; rows without a value come last. A cursor
names its row by its public id, so that it does not reveal the number of rows.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import F, Q, QuerySet
from django.utils.dateparse import parse_datetime
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import remove_query_param, replace_query_param
from rest_framework.views import APIView

from grader.models.ids import ALPHABET, PUBLIC_ID_LENGTH

DEFAULT_PAGE_SIZE: Final = 50
MAX_PAGE_SIZE: Final = 200
PUBLIC_ID: Final = re.compile(f"[{ALPHABET}]{{{PUBLIC_ID_LENGTH}}}")


@dataclass(frozen=True, slots=True)
class Cursor:
    """A position between two rows: after (or before, if `backwards`) the row with these values."""

    ordering: str
    value: Any
    public_id: str
    backwards: bool

    def encode(self) -> str:
        value = self.value.isoformat() if isinstance(self.value, datetime) else self.value
        data = json.dumps([self.ordering, value, self.public_id, self.backwards])
        return base64.urlsafe_b64encode(data.encode()).decode().rstrip("=")

    @classmethod
    def decode(cls, text: str, ordering: str) -> Cursor:
        """Parse the result of `encode`.

        Raises:
            ValidationError: it is no cursor, or belongs to another ordering.
        """
        try:
            padded = text + "=" * (-len(text) % 4)
            made_for, value, row, backwards = json.loads(base64.urlsafe_b64decode(padded))
        except (ValueError, TypeError, binascii.Error, RecursionError) as error:
            raise _bad_cursor() from error
        if (
            made_for != ordering
            or not isinstance(row, str)
            or not PUBLIC_ID.fullmatch(row)
            or type(backwards) is not bool
        ):
            raise _bad_cursor()
        return cls(ordering, _value(ordering.removeprefix("-"), value), row, backwards)


def _value(field: str, value: object) -> Any:
    if value is None or field == "id":
        return None
    if field.endswith("_at"):
        try:
            moment = parse_datetime(value) if isinstance(value, str) else None
        except ValueError as error:
            raise _bad_cursor() from error
        if moment is None or moment.utcoffset() is None or moment.utcoffset():
            raise _bad_cursor()
        return moment
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise _bad_cursor()
    return float(value)


def _bad_cursor() -> ValidationError:
    return ValidationError(
        {"cursor": ["This cursor is not one of this list. Follow the links `next` and `previous`."]}
    )


PAGING = frozenset({"cursor", "ordering", "page_size"})


class KeysetPagination(BasePagination):
    """`?ordering=&page_size=&cursor=`. The view lists its orderings in `orderings`."""

    def paginate_queryset(
        self, queryset: Any, request: Request, view: APIView | None = None
    ) -> list[Any]:
        self.request = request
        ordering = self._ordering(request, view)
        size = self._page_size(request)
        text = request.query_params.get("cursor", "")
        cursor = Cursor.decode(text, ordering) if text else None
        backwards = cursor is not None and cursor.backwards
        field, descending = ordering.removeprefix("-"), ordering.startswith("-")
        rows: QuerySet[Any] = queryset
        if cursor is not None:
            rows = rows.filter(_beyond(field, descending, cursor, _number(queryset, cursor)))
        found = list(rows.order_by(*_order(field, descending, backwards))[: size + 1])
        more, page = len(found) > size, found[:size]
        if backwards:
            page.reverse()
        self.next = self.previous = None
        if page:
            if more or backwards:
                self.next = self._link(_cursor(ordering, page[-1], backwards=False))
            if (more and backwards) or (cursor is not None and not backwards):
                self.previous = self._link(_cursor(ordering, page[0], backwards=True))
        return page

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"next": self.next, "previous": self.previous, "results": data})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        link = {"type": ["string", "null"], "format": "uri"}
        return {
            "type": "object",
            "required": ["next", "previous", "results"],
            "properties": {"next": link, "previous": link, "results": schema},
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        orderings = list(view.orderings)
        return [
            {
                "name": "cursor",
                "in": OpenApiParameter.QUERY,
                "required": False,
                "description": "Where the page begins: `cursor` of the links `next` and "
                "`previous`, with the other parameters as they were.",
                "schema": {"type": "string"},
            },
            {
                "name": "ordering",
                "in": OpenApiParameter.QUERY,
                "required": False,
                "description": "The order; ties are ordered by id, rows without a value are last.",
                "schema": {"type": "string", "enum": orderings, "default": orderings[0]},
            },
            {
                "name": "page_size",
                "in": OpenApiParameter.QUERY,
                "required": False,
                "description": "How many a page has at most.",
                "schema": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_PAGE_SIZE,
                    "default": DEFAULT_PAGE_SIZE,
                },
            },
        ]

    @staticmethod
    def _ordering(request: Request, view: Any) -> str:
        ordering = request.query_params.get("ordering", view.orderings[0])
        if ordering not in view.orderings:
            raise ValidationError({"ordering": [f"Order by one of {', '.join(view.orderings)}."]})
        return str(ordering)

    @staticmethod
    def _page_size(request: Request) -> int:
        text = request.query_params.get("page_size", str(DEFAULT_PAGE_SIZE))
        valid = text.isascii() and text.isdigit() and len(text) <= 4
        if not valid or not 1 <= int(text) <= MAX_PAGE_SIZE:
            raise ValidationError({"page_size": [f"A page has 1 to {MAX_PAGE_SIZE} results."]})
        return int(text)

    def _link(self, cursor: str) -> str:
        url = remove_query_param(self.request.build_absolute_uri(), "cursor")
        return str(replace_query_param(url, "cursor", cursor))


def _cursor(ordering: str, row: Any, *, backwards: bool) -> str:
    field = ordering.removeprefix("-")
    value = None if field == "id" else getattr(row, field)
    return Cursor(ordering, value, row.public_id, backwards).encode()


def _number(queryset: QuerySet[Any], cursor: Cursor) -> int:
    """Return the number of the cursor's row, which may no longer match the filters."""
    rows = queryset.model._default_manager.filter(public_id=cursor.public_id)
    number: int | None = rows.values_list("pk", flat=True).first()
    if number is None:
        raise ValidationError(
            {"cursor": ["The row at which this page begins is gone. Begin with the first page."]}
        )
    return number


def _order(field: str, descending: bool, backwards: bool) -> list[Any]:
    down = descending != backwards
    identifier = F("pk").desc() if down else F("pk").asc()
    if field == "id":
        return [identifier]
    # Rows without a value are last, so first when reading backwards.
    nulls = {"nulls_first": True} if backwards else {"nulls_last": True}
    return [F(field).desc(**nulls) if down else F(field).asc(**nulls), identifier]


def _beyond(field: str, descending: bool, cursor: Cursor, number: int) -> Q:
    """Return the condition for rows beyond the cursor, in its reading direction."""
    step = "lt" if descending != cursor.backwards else "gt"
    by_id = Q(**{f"pk__{step}": number})
    if field == "id":
        return by_id
    empty = Q(**{f"{field}__isnull": True})
    if cursor.value is None:
        return (~empty | (empty & by_id)) if cursor.backwards else (empty & by_id)
    beyond = Q(**{f"{field}__{step}": cursor.value}) | (Q(**{field: cursor.value}) & by_id)
    return beyond if cursor.backwards else beyond | empty
