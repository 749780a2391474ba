"""Fixtures that several tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]

settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci")


@pytest.fixture(scope="session")
def shared():
    """Folder of published counts and log files beside the checkout."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        if os.environ.get("CI") == "true":
            pytest.fail("CI needs the folder shared beside the checkout")
        pytest.skip("needs the folder shared beside the checkout")
    return folder
