"""Forgotten secrets are found: in the tree, in what was deleted long ago, of each kind that Lago's users have."""

import subprocess
from pathlib import Path

import pytest

from scripts.find_secrets import INVENTED, Find, find, looks
from tests.infra.stack import ROOT

# put together here, so that this file holds none
KEY = "q7Zt3LmX9vB2nK8sD4fG6hJ1" + "wE5rT0yU"
PLANTED = {
    "a bot's token": "987654321" + ":AAF" + KEY,
    "a Slack webhook": "https://hooks.slack" + ".com/services/T01ABCDEF/B01ABCDEF/" + KEY[:24],
    "a Discord webhook": "https://discord.com/api/webhooks/" + "123456789012345678/" + KEY + KEY,
    "a webhook's key": "whsec_" + KEY + KEY,
    "an ntfy token": "tk_" + KEY[:29].lower(),
    "an AWS access key": "AKIA" + KEY[:16].upper(),
    "an AWS secret key": "aws_secret_access_key = " + KEY + KEY[:8],
    "a private key": "-----BEGIN RSA PRIVATE" + " KEY-----",
    "a web token": "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "a login": "postgres://anna:" + KEY[:12] + "@db.lago.net/ads",
}


def a_checkout(folder: Path) -> Path:
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, "README.md", "nothing to see\n")
    return folder


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", folder, *who, *arguments], check=True, capture_output=True)


def commit(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    git(folder, "add", name)
    git(folder, "commit", "--quiet", "--message", name)


@pytest.mark.parametrize("secret", PLANTED.values(), ids=PLANTED)
def test_a_planted_secret_is_found_and_not_repeated(secret: str, tmp_path: Path) -> None:
    folder = a_checkout(tmp_path)
    (folder / "notes.py").write_text(f"first = 1\nsecret = '{secret}'\n")

    ((place, _), *_) = find(folder)

    assert place == "notes.py:2"


def test_what_was_deleted_is_found_with_the_way_to_see_it(tmp_path: Path) -> None:
    folder = a_checkout(tmp_path)
    commit(folder, "old.py", f"TOKEN = '{PLANTED["a bot's token"]}'\n")
    git(folder, "rm", "--quiet", "old.py")
    git(folder, "commit", "--quiet", "--message", "gone")

    ((place, each),) = find(folder)

    assert place.startswith("old.py (git show ")
    assert each.kind == "Telegram Bot Token"


def test_what_was_invented_is_left_alone_and_nothing_else(tmp_path: Path) -> None:
    folder = a_checkout(tmp_path)
    known, other = "987654321" + ":AAF" + KEY, "987654322" + ":AAF" + KEY
    commit(folder, str(INVENTED), f"# invented\n{known}\n")
    commit(folder, "test_it.py", f"A = '{known}'\nB = '{other}'\n")

    assert [place for place, _ in find(folder)] == ["test_it.py:2"]


def test_ignored_files_and_those_that_are_no_text_are_not_looked_at(tmp_path: Path) -> None:
    folder = a_checkout(tmp_path)
    commit(folder, ".gitignore", ".local/\n")
    (folder / ".local").mkdir()
    (folder / ".local" / "env").write_text(PLANTED["an AWS secret key"])
    (folder / "picture.png").write_bytes(b"\x89PNG\x00" + PLANTED["an AWS access key"].encode())

    assert find(folder) == []


def test_a_login_at_a_host_that_cannot_be_is_no_secret() -> None:
    lines = [f"https://anna:{KEY[:12]}@{host}/in" for host in ("mail.example.org", "a.example", "localhost:8099")]

    assert list(looks(lines)) == []
    assert [each for _, each in looks([f"https://anna:{KEY[:12]}@mail.lago.net"])] == [
        Find("Basic Auth Credentials", KEY[:12])
    ]


def test_there_is_none_in_this_checkout() -> None:
    assert find(ROOT) == []
