"""willhaben.at, read through its result pages: HTML with the data in a `__NEXT_DATA__` script.

Facts about pages and parameters come from public code that reads the same pages; none is promised by willhaben, so
everything but an ad's id may be missing or change.
"""

from lago.sources.willhaben.keyword import query_from_keyword
from lago.sources.willhaben.source import Willhaben, WillhabenSettings, user_agent

__all__ = ["Willhaben", "WillhabenSettings", "query_from_keyword", "user_agent"]
