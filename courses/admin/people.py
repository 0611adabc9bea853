"""Accounts and groups in the admin, where nobody grants more than they have.

In Django, whoever may change users may tick `superuser`, grant any permission and set anybody's
password. Here they grant and change only what lies within their own permissions.
"""

from __future__ import annotations

from typing import Any, cast

from allauth.account.admin import EmailAddressAdmin
from allauth.account.models import EmailAddress
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import AdminPasswordChangeForm, AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from courses.accounts import names, rights
from courses.accounts.deletion import delete_account
from courses.accounts.operators import LastOperatorError, is_last_operator, keep_an_operator
from courses.models import DeletedAccount

from .searching import FoldedSearchMixin
from .writing import ShortWritesMixin, Stale

admin.site.unregister((User, Group, EmailAddress))


def _person(request: HttpRequest) -> User:
    return cast(User, request.user)


class NewAccountForm(AdminUserCreationForm):
    def clean_username(self) -> str:
        name: str = super().clean_username()
        if name:
            names.check_free(name)
        return name


class SetPasswordForm(AdminPasswordChangeForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        password = self.fields["password1"]
        password.help_text = format_html(
            "{}<p>The account’s API tokens end with the old password.</p>", password.help_text
        )

    def save(self, commit: bool = True) -> User:
        user: User = super().save(commit=False)  # Hashes, so outside of the transaction.
        if commit:
            # Together with everything that the old password ends, or not at all.
            with transaction.atomic():
                user.save()
        return user


class AccountForm(UserChangeForm):
    """Keeps names apart, and one account that can run the site."""

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if name != self.initial.get("username"):
            names.check_free(name, self.instance)
        return name

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        stays = all(cleaned.get(flag, True) for flag in ("is_active", "is_superuser"))
        if not stays and is_last_operator(self.instance):
            self.add_error(None, str(LastOperatorError()))
        return cleaned


@admin.register(User)
class AccountAdmin(FoldedSearchMixin, ShortWritesMixin, UserAdmin):  # type: ignore[misc]
    form = AccountForm
    add_form = NewAccountForm
    change_password_form = SetPasswordForm
    search_fields = (*UserAdmin.search_fields, "account_name__folded")

    def add_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        # Without Django's transaction round it, in which a password would be hashed.
        return self._add_view(request, *args, **kwargs)  # type: ignore[attr-defined]

    def look_again(self, request: HttpRequest, obj: User, change: bool) -> None:
        if change and not (obj.is_superuser and obj.is_active):
            try:
                keep_an_operator(obj)
            except LastOperatorError:
                raise Stale from None

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        allowed = super().has_change_permission(request, obj)
        return allowed and (obj is None or self._may_manage(request, obj))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        allowed = super().has_delete_permission(request, obj)
        if obj is None or not allowed:
            return allowed
        return self._may_manage(request, obj) and not is_last_operator(obj)

    def _may_manage(self, request: HttpRequest, account: User) -> bool:
        # Remains of deleted accounts expire by themselves, and cannot sign in.
        is_deleted = DeletedAccount.objects.filter(user=account).exists()
        return not is_deleted and rights.may_manage_account(_person(request), account)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """List the accounts alone: what belongs to one goes with it, whoever may delete that."""
        refused = [obj for obj in objs if not self.has_delete_permission(request, obj)]
        named = [str(obj) for obj in objs]
        return named, {"users": len(named)}, {str(obj) for obj in refused}, []

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        try:
            delete_account(obj)
        except LastOperatorError:
            raise Stale from None

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        for account in queryset:
            delete_account(account)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = tuple(super().get_readonly_fields(request, obj))
        person = _person(request)
        if not person.is_superuser:
            fields += ("is_superuser",)
        return fields if person.is_staff else (*fields, "is_staff")

    def formfield_for_manytomany(self, db_field: Any, request: Any, **kwargs: Any) -> Any:
        if db_field.name == "groups":
            kwargs["queryset"] = rights.groups_within(_person(request))
        elif db_field.name == "user_permissions":
            kwargs["queryset"] = rights.permissions_of(_person(request))
        return super().formfield_for_manytomany(db_field, request, **kwargs)


@admin.register(Group)
class RestrictedGroupAdmin(ShortWritesMixin, GroupAdmin):  # type: ignore[misc]
    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        allowed = super().has_change_permission(request, obj)
        return allowed and (obj is None or rights.may_manage_group(_person(request), obj))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        allowed = super().has_delete_permission(request, obj)
        return allowed and (obj is None or rights.may_manage_group(_person(request), obj))

    def formfield_for_manytomany(self, db_field: Any, request: Any = None, **kwargs: Any) -> Any:
        if db_field.name == "permissions":
            kwargs["queryset"] = rights.permissions_of(_person(request))
        return super().formfield_for_manytomany(db_field, request, **kwargs)


@admin.register(EmailAddress)
class RestrictedEmailAddressAdmin(ShortWritesMixin, EmailAddressAdmin):
    """A link that sets a password goes to these: superusers alone change them here."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return _person(request).is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return _person(request).is_superuser

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return _person(request).is_superuser

    def get_actions(self, request: HttpRequest) -> Any:
        return super().get_actions(request) if _person(request).is_superuser else {}
