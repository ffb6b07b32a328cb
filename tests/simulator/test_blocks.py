"""The KV pool never hands out a block twice, nor keeps one."""

from hypothesis import given
from hypothesis import strategies as st

from monitor.simulator.blocks import BlockPool


def test_usage_is_the_share_of_blocks_that_somebody_holds() -> None:
    pool = BlockPool(99)
    assert pool.usage == 0.0
    assert pool.allocate(4)
    # The last digits are those of a recorded page.
    assert pool.usage == 0.04040404040404044
    assert not pool.allocate(96)
    assert pool.allocate(95)
    assert pool.usage == 1.0


def test_a_shared_prefix_counts_once_and_is_free_without_users() -> None:
    pool = BlockPool(10)
    assert pool.allocate(6)
    pool.share(prefix=64, blocks=4)
    pool.join(64)
    assert pool.free == 4
    pool.leave(64)
    pool.leave(64)
    pool.release(2)
    assert (pool.free, pool.warm_blocks(64)) == (10, 4)


def test_a_block_that_is_taken_pushes_out_the_prefix_that_nobody_uses() -> None:
    pool = BlockPool(10)
    for prefix in (1, 2):
        assert pool.allocate(5)
        pool.share(prefix, 5)
    pool.leave(1)
    pool.leave(2)
    pool.join(2)
    assert pool.allocate(1)
    assert (pool.warm_blocks(1), pool.warm_blocks(2)) == (0, 5)


@given(st.lists(st.tuples(st.sampled_from(["cold", "warm", "end"]), st.integers(1, 8), st.integers(1, 4))))
def test_what_is_held_and_what_is_free_is_always_everything(steps: list[tuple[str, int, int]]) -> None:
    pool = BlockPool(20)
    # Each holder: the prefix it shares, 0 for none, and the blocks of its own.
    holders: list[tuple[int, int]] = []
    for action, blocks, prefix in steps:
        if action == "cold" and not pool.warm_blocks(prefix) and pool.allocate(blocks + 2):
            pool.share(prefix, 2)
            holders.append((prefix, blocks))
        elif action == "warm" and pool.warm_blocks(prefix):
            pool.join(prefix)
            holders.append((prefix, 0))
        elif action == "end" and holders:
            left, own = holders.pop(blocks % len(holders))
            pool.leave(left)
            pool.release(own)
        used = sum(own for _, own in holders) + 2 * len({each for each, _ in holders})
        assert pool.free == 20 - used
        unused = [each for each in range(1, 5) if pool.warm_blocks(each) and each not in dict(holders)]
        assert 2 * len(unused) <= pool.free
