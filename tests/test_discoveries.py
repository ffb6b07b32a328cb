"""The discoveries of one configuration after another."""

from monitor.config.discovering import FileSDConfig
from monitor.config.scraping import ScrapeConfig
from monitor.discoveries import Discoveries

ONE, OTHER = FileSDConfig(files=("one.json",)), FileSDConfig(files=("other.json",))


def job(*sections: FileSDConfig, name: str = "vllm") -> ScrapeConfig:
    return ScrapeConfig(job_name=name, file_sd_configs=sections)


def test_a_discovery_stays_the_same_wherever_it_stands() -> None:
    discoveries = Discoveries()
    (one,) = discoveries.providers_of(job(ONE))
    first, second = discoveries.providers_of(job(OTHER, ONE))
    assert second is one
    assert first is not one
    twins = discoveries.providers_of(job(ONE, ONE))
    assert twins[0] is one
    assert twins[1] is not one
    assert discoveries.providers_of(job(ONE, name="another"))[0] is not one


def test_those_that_nobody_has_any_more_are_forgotten_and_told_of() -> None:
    discoveries = Discoveries()
    one, _ = discoveries.providers_of(job(ONE, OTHER))
    assert discoveries.keep_only([job(ONE)]) == set()
    assert discoveries.providers_of(job(ONE)) == (one,)
    assert discoveries.keep_only([]) == {("vllm", "file")}
    assert discoveries.providers_of(job(ONE)) != (one,)
