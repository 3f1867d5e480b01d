"""The contrast of the consoles in the two combinations that the suite leaves out."""

import pytest

from tests.harness.browser import Tab
from tests.harness.console_pages import (
    OPERATOR_PAGES,
    PARTNER_PAGES,
    open_operator_console,
    open_partner_console,
)
from tests.harness.system import System
from tests.services.gateway.console.conftest import system
from tests.services.gateway.console.test_accessibility import REST, check_pages

__all__ = ["system"]


@pytest.mark.timeout(1200)
async def test_the_consoles_have_enough_contrast(tab: Tab, system: System) -> None:
    """Dark on a desktop, light on a phone."""
    await open_partner_console(tab, system, await system.key())
    await check_pages(tab, PARTNER_PAGES, REST)
    await open_operator_console(tab, system)
    await check_pages(tab, OPERATOR_PAGES, REST)
