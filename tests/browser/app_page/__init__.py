"""Reads the app off its page as a visitor sees it, and computes with autograd what must stand there."""

# ruff: noqa: F401

from tests.browser.app_page.assert_equals_autograd import (
    TOLERANCE,
    assert_page_equals_autograd,
    cell_of_shot,
)
from tests.browser.app_page.expected_by_autograd import (
    LOSSES,
    autograd_of_page,
)
from tests.browser.app_page.opening import (
    fresh_page,
    go_to,
    kernel_id,
    messages_sent,
    open_app,
    show_all_controls,
    show_link,
    used,
    visiting,
)
from tests.browser.app_page.operate_page import (
    ENTRY_OF,
    OFFERED,
    cell,
    choose,
    entry_of,
    open_tab,
    pane_follows,
    press_tab,
    settle_pane,
    show_band,
    show_plane,
    shown_plane,
    slide,
    slider,
    slider_value,
    switch,
    weight_slider,
)
from tests.browser.app_page.read_page import (
    LABEL,
    SNAPSHOT,
    Seen,
    panels_of,
    plain,
    plane_of,
    read_panel,
    same_state,
    see,
    snapshot,
    wait_aligned,
)
from tests.browser.app_page.waits import (
    APPEARS_WITHIN_MS,
    FOLLOWS_WITHIN_MS,
    painted,
    repaint,
    settle,
    wait_notice,
    wait_painted,
    wait_value,
)
