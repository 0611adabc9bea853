"""Nobody gives themselves or others more than they have, whatever their role, by any page."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import Group, Permission, User
from django.test import Client

from courses.accounts import rights
from learnml import roles

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough phrase"
HELPDESK = "helpdesk"
"""A group as an operator may make it: whoever is in it cares for accounts and nothing else."""


@pytest.fixture
def people() -> dict[str, User]:
    """One account for each role, for the group of an operator's own, and one that can do all."""
    helpdesk = Group.objects.create(name=HELPDESK)
    helpdesk.permissions.set(
        Permission.objects.filter(content_type__app_label__in=("auth", "account"))
    )
    made = {"root": User.objects.create_superuser("root", "root@example.org", PASSWORD)}
    for role in (*roles.ROLE_PERMISSIONS, HELPDESK):
        made[role] = User.objects.create_user(
            f"the-{role}", f"{role}@example.org", PASSWORD, is_staff=role != roles.LEARNER
        )
        made[role].groups.add(Group.objects.get(name=role))
        EmailAddress.objects.create(user=made[role], email=f"{role}@example.org", primary=True)
    EmailAddress.objects.create(user=made["root"], email="root@example.org", primary=True)
    return made


def state(user: User) -> tuple[Any, ...]:
    """Return all that decides who can sign in as a user, and what that gives."""
    user = User.objects.get(pk=user.pk)
    flags = (user.is_superuser, user.is_staff, user.is_active)
    addresses = frozenset(user.emailaddress_set.values_list("email", "verified", "primary"))
    given = frozenset(rights.permissions_of(user).values_list("pk", flat=True))
    return (user.username, user.password, user.email, *flags, addresses, given)


def account_form(user: User, **changes: Any) -> dict[str, Any]:
    user = User.objects.get(pk=user.pk)
    flags = {name: "on" for name in ("is_active", "is_staff") if getattr(user, name)}
    return {
        "username": user.username,
        "email": user.email,
        "date_joined_0": f"{user.date_joined:%Y-%m-%d}",
        "date_joined_1": f"{user.date_joined:%H:%M:%S}",
        "groups": list(user.groups.values_list("pk", flat=True)),
        "user_permissions": list(user.user_permissions.values_list("pk", flat=True)),
        **flags,
        **changes,
    }


def grab(client: Client, people: dict[str, User]) -> None:
    """Try, over all pages of the admin, to give every account everything, and to take it over."""
    everything = list(Permission.objects.values_list("pk", flat=True))
    groups = list(Group.objects.values_list("pk", flat=True))
    for user in people.values():
        page = f"/admin/auth/user/{user.pk}"
        for change in (
            {"is_superuser": "on", "is_staff": "on"},
            {"is_staff": "on"},
            {"groups": groups},
            *({"groups": [group]} for group in groups),
            {"user_permissions": everything},
            {"email": "mine@example.org"},
        ):
            client.post(f"{page}/change/", account_form(user, **change))
        new = {"usable_password": "true", "password1": "of my own 17", "password2": "of my own 17"}
        client.post(f"{page}/password/", new)
    for group in Group.objects.all():
        form = {"name": group.name, "permissions": everything}
        client.post(f"/admin/auth/group/{group.pk}/change/", form)
    client.post("/admin/auth/group/add/", {"name": "all", "permissions": everything})
    new = {"username": "new", "usable_password": "true", "is_superuser": "on", "is_staff": "on"}
    client.post("/admin/auth/user/add/", {**new, "password1": PASSWORD, "password2": PASSWORD})
    for address in EmailAddress.objects.all():
        form = {"user": address.user_id, "email": "taken@example.org", "verified": "on"}
        client.post(f"/admin/account/emailaddress/{address.pk}/change/", form)
        chosen = {"action": "make_verified", "_selected_action": [address.pk]}
        client.post("/admin/account/emailaddress/", chosen)
    form = {"user": people["root"].pk, "email": "taken@example.org", "verified": "on"}
    client.post("/admin/account/emailaddress/add/", form)


def remove(client: Client, people: dict[str, User]) -> None:
    """Try to delete every account, one by one and from the list."""
    for user in people.values():
        client.post(f"/admin/auth/user/{user.pk}/delete/", {"post": "yes"})
        chosen = {"action": "delete_selected", "_selected_action": [user.pk], "post": "yes"}
        client.post("/admin/auth/user/", chosen)


@pytest.mark.parametrize("role", [*roles.ROLE_PERMISSIONS, HELPDESK])
def test_no_role_can_reach_for_more_than_it_has(
    client: Client, people: dict[str, User], role: str
) -> None:
    own = set(rights.permissions_of(people[role]).values_list("pk", flat=True))
    above = {name: user for name, user in people.items() if not within(user, own)}
    assert "root" in above
    before = {name: state(user) for name, user in above.items()}
    groups = {group.pk: permissions(group) for group in Group.objects.all()}
    client.force_login(people[role])
    grab(client, people)
    assert {name: state(user) for name, user in above.items()} == before
    for user in User.objects.exclude(pk__in=[user.pk for user in above.values()]):
        assert not user.is_superuser
        assert within(user, own), f"{user} was given what a {role} has not"
        assert people[role].is_staff or not user.is_staff
    for group in Group.objects.all():
        assert permissions(group) <= own | groups.get(group.pk, set()), group
    client.force_login(people[role])  # one's own password may have changed
    remove(client, people)
    assert User.objects.filter(pk__in=[user.pk for user in above.values()]).count() == len(above)


def within(user: User, own: set[int]) -> bool:
    given = set(rights.permissions_of(user).values_list("pk", flat=True))
    return not user.is_superuser and given <= own


def permissions(group: Group) -> set[int]:
    return set(group.permissions.values_list("pk", flat=True))


def test_operators_care_for_the_accounts_of_all_roles(
    client: Client, people: dict[str, User]
) -> None:
    client.force_login(people[roles.OPERATOR])
    grader = Group.objects.get(name=roles.GRADER)
    page = f"/admin/auth/user/{people[roles.LEARNER].pk}"
    form = account_form(people[roles.LEARNER], groups=[grader.pk], is_staff="on")
    assert client.post(f"{page}/change/", form).status_code == 302
    promoted = User.objects.get(pk=people[roles.LEARNER].pk)
    assert promoted.is_staff
    assert promoted.has_perm("grader.change_submission")
    new = {"usable_password": "true", "password1": "of my own 17", "password2": "of my own 17"}
    assert client.post(f"{page}/password/", new).status_code == 302
    assert User.objects.get(pk=promoted.pk).check_password("of my own 17")


def test_an_inactive_account_counts_with_what_it_had(
    client: Client, people: dict[str, User]
) -> None:
    gone = people[roles.OPERATOR]
    User.objects.filter(pk=gone.pk).update(is_active=False)
    before = state(gone)
    client.force_login(people[HELPDESK])
    page = f"/admin/auth/user/{gone.pk}"
    client.post(f"{page}/change/", account_form(gone, is_active="on"))
    new = {"usable_password": "true", "password1": "of my own 17", "password2": "of my own 17"}
    client.post(f"{page}/password/", new)
    assert state(gone) == before


def test_a_superuser_gives_all_and_does_not_lock_the_site(
    client: Client, people: dict[str, User]
) -> None:
    client.force_login(people["root"])
    page = f"/admin/auth/user/{people['root'].pk}/change/"
    response = client.post(page, account_form(people["root"]))  # superuser is not ticked
    assert "only account that can run the site" in response.content.decode()
    learner = people[roles.LEARNER]
    form = account_form(learner, is_superuser="on", is_staff="on")
    assert client.post(f"/admin/auth/user/{learner.pk}/change/", form).status_code == 302
    assert User.objects.get(pk=learner.pk).is_superuser
    assert client.post(page, account_form(people["root"])).status_code == 302
    assert not User.objects.get(pk=people["root"].pk).is_superuser
