"""Edit conflicts: the second of two saves is refused with a reason, and its form keeps the text."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import AbstractUser
from django.core.exceptions import ObjectDoesNotExist
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString

from courses.editing import last_edit, state_of

from .writing import ShortWritesMixin, Stale

STATE_FIELD = "loaded_state"


class LoadedStateField(forms.CharField):
    """The state that the form was loaded from; not something its author changes."""

    widget = forms.HiddenInput

    def has_changed(self, initial: Any, data: Any) -> bool:
        return False


class LoadedStateForm(forms.ModelForm):
    """A form that carries the state it was loaded from, and reports a conflict when it is sent."""

    loaded_state = LoadedStateField(required=False)

    state_now = ""
    conflict: SafeString | str = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields[STATE_FIELD].initial = self.state_now

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if self.conflict:
            self.add_error(None, self.conflict)
        return cleaned


class RefuseStaleMixin(ShortWritesMixin):
    """For admins whose form is a `LoadedStateForm`.

    The states are compared before the form is validated, and again when writing begins, under the
    lock that serialises saves: of two simultaneous saves, the second sees the first one's state.
    """

    model: Any
    opts: Any

    def lock(self, obj: Any) -> None:
        """Lock the row that all conflicting saves share."""
        type(obj).objects.select_for_update().get(pk=obj.pk)

    def answer_form(
        self,
        request: HttpRequest,
        object_id: str | None,
        form_url: str,
        extra_context: dict[str, Any] | None,
    ) -> HttpResponseBase:
        if object_id is None:
            return super().answer_form(request, object_id, form_url, extra_context)
        obj = self.get_object(request, object_id)  # type: ignore[attr-defined]
        conflict = self._conflict(request, obj, object_id)
        request.edit_conflict = conflict  # type: ignore[attr-defined]
        # A row deleted meanwhile is shown as a new one, so that its text is not lost.
        shown = object_id if obj is not None or not conflict else None
        return super().answer_form(request, shown, form_url, extra_context)

    def look_again(self, request: HttpRequest, obj: Any, change: bool) -> None:
        super().look_again(request, obj, change)
        if not change:
            return
        try:
            self.lock(obj)
        except ObjectDoesNotExist as error:
            raise Stale from error
        if request.POST.get(STATE_FIELD) != state_of(obj):
            raise Stale

    def get_form(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, **kwargs)
        form.conflict = getattr(request, "edit_conflict", "")
        if obj is not None and request.method != "POST":
            form.state_now = state_of(obj)
        return form

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        fieldsets = super().get_fieldsets(request, obj)  # type: ignore[misc]
        if obj is None or not self.has_change_permission(request, obj):  # type: ignore[attr-defined]
            return fieldsets
        return (*fieldsets, (None, {"fields": (STATE_FIELD,)}))

    def _conflict(self, request: HttpRequest, obj: Any, object_id: str) -> SafeString | str:
        """Return why this save would undo another one; empty where it would not."""
        if obj is not None and request.POST.get(STATE_FIELD) == state_of(obj):
            return ""
        name = self.opts.verbose_name
        edit = last_edit(self.model, obj.pk if obj is not None else _as_key(object_id))
        if obj is None and edit is None:
            return ""  # there never was such a row
        who = _who(request, edit.by) if edit else "somebody else"
        when = f" on {_when(edit.at)}" if edit else ""
        if obj is None:
            return format_html(
                "This {} was deleted meanwhile by {}{}. Nothing was saved. "
                "Your text is still in this form: copy what you need before you leave the page.",
                *(name, who, when),
            )
        change = reverse(
            f"admin:{self.opts.app_label}_{self.opts.model_name}_change", args=[obj.pk]
        )
        return format_html(
            "This {} was changed meanwhile by {}{}. Nothing was saved, so that neither edit is "
            "lost. Your text is still in this form: open "
            '<a href="{}" target="_blank" rel="noopener">the {} as it is now</a> in a new tab, '
            "copy your changes into it, and save there.",
            *(name, who, when, change, name),
        )


def _who(request: HttpRequest, by: str | None) -> str:
    if by is None:
        return "a command, such as load_course"
    user = request.user
    own = isinstance(user, AbstractUser) and user.get_username() == by
    return f"{by} (you, in another tab or window)" if own else by


def _when(at: Any) -> str:
    local = timezone.localtime(at)
    return f"{date_format(local, 'j F Y, H:i')} {local.tzname()}"


def _as_key(object_id: str) -> int | None:
    """Return the primary key in an address, None where it cannot be one."""
    return int(object_id) if object_id.isascii() and object_id.isdigit() else None
