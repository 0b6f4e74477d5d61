"""Puts something into the tables, in a process of its own: the store's models bind tables and endpoint at import.

seed.py watch KEYWORD         a watch for a search
seed.py outbox KEYWORD AD     that watch, and a find that waits in its search's outbox
seed.py row KEYWORD AD        a notification for that watch that waits and is due
"""

import sys
import time

from msgspec.structs import replace

from lago.domain.ids import EpochMs, WatchId
from lago.store.mailboxes import MailboxStore
from lago.store.searches import SearchStore
from lago.store.watches import WatchStore
from tests.builders import a_cursor, a_destination, a_query, a_row, a_search_id, a_watch, an_event

now = EpochMs(int(1000 * time.time()))
match sys.argv[1:]:
    case ["watch", keyword]:
        MailboxStore(1).put_destination(a_destination())
        WatchStore().add(a_query(keyword), a_watch(f"w-{keyword}", keyword=keyword, created=now))
    case ["outbox", keyword, ad]:
        search = SearchStore().get(a_search_id(keyword))
        assert search is not None
        found = an_event(ad, found=now)
        SearchStore().commit(
            search, cursor=a_cursor(ad, newest=now), events=(found,), announced=search.awaiting, now=now
        )
    case ["row", keyword, ad]:
        row = a_row(an_event(ad, found=now), created=now - 1000)
        mine = replace(row.notification, search=a_search_id(keyword), watches=(WatchId(f"w-{keyword}"),))
        MailboxStore(1).enqueue(a_destination(), (replace(row, notification=mine),), now=now)
    case unknown:
        raise SystemExit(f"unknown: {unknown}")
