"""Settings of all tests."""

import os

from hypothesis import HealthCheck, settings

# A busy machine must not make a test fail: how long things take is measured by `make bench`. Continuous integration has
# the same examples every time: rare ones are found by whoever runs the tests at home, and by `make conformance`.
settings.register_profile(
    "unhurried",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("unhurried")
