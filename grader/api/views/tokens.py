"""`tokens/`: create one with a password, list and revoke one's own."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request
from rest_framework.response import Response

from grader import services
from grader.api.authentication import PasswordAuthentication
from grader.api.base import ApiView, caller, problems
from grader.api.serializers import CreatedTokenSerializer, NewTokenSerializer, TokenSerializer
from grader.models import ApiToken


class _TokenView(ApiView):
    # Not by token: a token must not create one that can do more or lives longer.
    authentication_classes: Any = (PasswordAuthentication, SessionAuthentication)


class TokensView(_TokenView):
    @extend_schema(
        operation_id="tokens_list",
        summary="List your tokens",
        responses={200: TokenSerializer(many=True), **problems(403)},
        tags=["tokens"],
    )
    def get(self, request: Request) -> Response:
        tokens = ApiToken.objects.filter(user=caller(request))
        return Response(TokenSerializer(tokens, many=True).data)

    @extend_schema(
        operation_id="tokens_create",
        summary="Make a token",
        description="The token is in this answer and never shown again. Scopes: read, submit, and "
        "for graders grade. Without `expires_at` it lives as long as the site allows.",
        request=NewTokenSerializer,
        responses={201: CreatedTokenSerializer, **problems(400, 403, 413, 415)},
        tags=["tokens"],
    )
    def post(self, request: Request) -> Response:
        wanted = NewTokenSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        row, token = services.create_token(caller(request), **wanted.validated_data)
        return Response({"token": token, **TokenSerializer(row).data}, status=201)


class TokenView(_TokenView):
    @extend_schema(
        operation_id="tokens_revoke",
        summary="Revoke one of your tokens",
        responses={204: None, **problems(403, 404)},
        tags=["tokens"],
    )
    def delete(self, request: Request, public_id: str) -> Response:
        token = ApiToken.objects.filter(public_id=public_id, user=caller(request)).first()
        if token is None:
            raise Http404
        services.revoke_token(caller(request), token)
        return Response(status=204)
