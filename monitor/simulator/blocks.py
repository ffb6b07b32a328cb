"""The KV pool: blocks, and the prefixes whose blocks outlive their requests."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Prefix:
    """The blocks of one prefix that many prompts share; without users they are free for anybody, but still warm."""

    blocks: int
    users: int = 0


@dataclass(slots=True)
class BlockPool:
    """
    `total` blocks of KV cache, `free` of which nobody holds.

    source: vLLM V1, one block of `num_gpu_blocks` is the null block and never handed out; warm blocks count as free.
    """

    total: int
    free: int = field(init=False)
    _prefixes: dict[int, Prefix] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.free = self.total

    @property
    def usage(self) -> float:
        """The share of blocks in use, 0 to 1, with the rounding of vLLM's own formula."""
        return 1.0 - self.free / self.total

    def allocate(self, count: int) -> bool:
        """Take `count` free blocks, or none when there are fewer."""
        if count > self.free:
            return False
        self.free -= count
        if self._prefixes:
            self._evict()
        return True

    def release(self, count: int) -> None:
        self.free += count

    def warm_blocks(self, prefix: int) -> int:
        """Return how many blocks of the prefix of `prefix` tokens need not be computed again."""
        found = self._prefixes.get(prefix)
        return found.blocks if found else 0

    def share(self, prefix: int, blocks: int) -> None:
        """Hand over `blocks` that the caller holds and has computed; it stays a user of them."""
        self._prefixes[prefix] = Prefix(blocks, users=1)

    def join(self, prefix: int) -> None:
        """Become a user of a warm prefix. Its blocks are still there: unused prefixes always fit into the free ones."""
        found = self._prefixes[prefix]
        if found.users == 0:
            self.free -= found.blocks
        found.users += 1

    def leave(self, prefix: int) -> None:
        found = self._prefixes[prefix]
        found.users -= 1
        if found.users == 0:
            self.free += found.blocks

    def _evict(self) -> None:
        """Forget unused prefixes, oldest first, until those left fit into the free blocks."""
        unused = {key: found.blocks for key, found in self._prefixes.items() if found.users == 0}
        excess = sum(unused.values()) - self.free
        for key, blocks in unused.items():
            if excess <= 0:
                return
            del self._prefixes[key]
            excess -= blocks
