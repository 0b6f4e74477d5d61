"""Each channel's page adds it as the command takes it."""

import re
from pathlib import Path

import pytest

from lago.channels.registry import target_spec
from lago.destination_options import read_id
from tests.infra.stack import ROOT

PAGES = sorted((ROOT / "docs" / "channels").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_what_is_typed_names_the_channel_and_no_secret(page: Path) -> None:
    (typed,) = re.findall(r"^lago destination add (.*?)(?:  .*)?$", page.read_text(), re.MULTILINE)
    name, *target = typed.replace(f"--channel {page.stem}", "").split()
    spec = target_spec(page.stem)

    assert f"--channel {page.stem}" in typed
    assert read_id("ID", name)
    assert len(target) == (0 if spec.private else 1)
    assert all(spec.make(each, bytes).address for each in target)
