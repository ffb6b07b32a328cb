"""Settings of all tests."""

from hypothesis import HealthCheck, settings

# A busy machine must not make a test fail: how long things take is measured by `make bench`.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")
