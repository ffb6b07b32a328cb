"""Settings of all tests."""

from hypothesis import settings

# A busy machine must not make a test fail: how long things take is measured by `make bench`.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
