"""Of several daemons over one folder one has the lease; the file takes nothing from one whose lease is an older one."""

import contextlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from monitor.model.instant import SECOND
from monitor.storage.db import Database, StateError
from monitor.storage.lease import Fence, HeldError, Lease, Watcher
from monitor.storage.lock import FolderLock
from monitor.storage.rows import Changes

PATIENCE = 15 * SECOND


class Lost:
    """Counts how often somebody has learnt that he is no longer the one."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> None:
        self.times += 1


def test_one_has_it_until_he_lets_go(tmp_path: Path) -> None:
    watcher = Watcher(tmp_path, PATIENCE)
    assert watcher.is_free(0)
    first = Lease.take(tmp_path)
    assert not watcher.is_free(0)
    first.release()
    assert watcher.is_free(0)
    second = Lease.take(tmp_path)
    assert (first.generation, second.generation) == (1, 2)
    assert not first.renew()
    assert second.renew()
    assert [path.name for path in tmp_path.glob("active-*")] == ["active-2"]


def test_one_that_gives_no_sign_of_life_is_waited_for_and_not_longer(tmp_path: Path) -> None:
    lease, watcher = Lease.take(tmp_path), Watcher(tmp_path, PATIENCE)
    # The clock of the one that watches began somewhere.
    assert not watcher.is_free(1_000_000)
    assert not watcher.is_free(1_000_000 + PATIENCE - 1)
    os.utime(tmp_path / "active-1", (1, 1))
    assert not watcher.is_free(1_000_000 + PATIENCE)
    lease.renew()
    assert not watcher.is_free(1_000_000 + 2 * PATIENCE - 1)
    assert watcher.is_free(1_000_000 + 3 * PATIENCE - 1)


def test_of_many_that_begin_at_once_no_two_have_the_same_generation_and_one_may_write(tmp_path: Path) -> None:
    taken: list[int] = []
    together = threading.Barrier(8)

    def take() -> None:
        together.wait()
        with contextlib.suppress(HeldError):
            taken.append(Lease.take(tmp_path).generation)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(set(taken)) == sorted(taken)
    Database(tmp_path, Fence(max(taken), Lost())).close()
    for older in set(taken) - {max(taken)}:
        with pytest.raises(StateError):
            Database(tmp_path, Fence(older, Lost()))


def test_what_an_older_one_writes_is_refused_and_it_learns_why(tmp_path: Path) -> None:
    lost = Lost()
    old = Database(tmp_path, Fence(1, lost))
    old.commit([Changes(silences=(("a", "mine"),))])
    new = Database(tmp_path, Fence(2, lost))
    assert new.silences() == ["mine"]
    writes: tuple[Callable[[], None], ...] = (
        lambda: old.commit([Changes(silences=(("a", "stale"),))]),
        lambda: old.attempt("letter"),
        old.check_fence,
    )
    for write in writes:
        with pytest.raises(StateError, match="another daemon"):
            write()
    assert lost.times == 3
    assert new.silences() == ["mine"]
    new.commit([Changes(silences=(("a", "newer"),))])
    with pytest.raises(StateError):
        Database(tmp_path, Fence(2, lost))
    old.close()
    new.close()


def test_an_older_one_learns_it_even_while_the_newer_one_writes(tmp_path: Path) -> None:
    lost = Lost()
    old = Database(tmp_path, Fence(1, lost))
    new = Database(tmp_path, Fence(2, Lost()))
    with new._transaction(), pytest.raises(StateError, match="another daemon"):
        old.attempt("letter")
    assert lost.times == 1


def test_the_generation_outlives_the_files_beside(tmp_path: Path) -> None:
    Database(tmp_path, Fence(7, Lost())).close()
    assert Lease.take(tmp_path).generation == 8


def test_a_daemon_alone_and_one_of_several_exclude_each_other(tmp_path: Path) -> None:
    several = [FolderLock(tmp_path, shared=True), FolderLock(tmp_path, shared=True)]
    with pytest.raises(StateError, match="in use"):
        FolderLock(tmp_path)
    for one in several:
        one.close()
    alone = FolderLock(tmp_path)
    with pytest.raises(StateError, match="in use"):
        FolderLock(tmp_path, shared=True)
    alone.close()
