"""Threads for scrapes."""

import threading

from monitor.workers import Workers
from tests.waiting import until


def test_of_the_jobs_of_one_key_never_two_run_at_a_time() -> None:
    workers, release, ran = Workers(), threading.Event(), []

    def job() -> None:
        release.wait(120)
        ran.append("first")

    assert workers.submit("a", job)
    assert not workers.submit("a", lambda: ran.append("beside"))
    assert not workers.is_idle()
    assert workers.submit("b", lambda: ran.append("other"))
    until(lambda: ran == ["other"], within=5)
    release.set()
    until(workers.is_idle, within=5)
    assert workers.submit("a", lambda: ran.append("again"))
    until(workers.is_idle, within=5)
    assert ran == ["other", "first", "again"]
    workers.stop()


def test_more_jobs_than_threads_wait_and_all_are_done_before_the_threads_end() -> None:
    workers, release, ran = Workers(most=2), threading.Event(), []
    for number in range(5):

        def job(number: int = number) -> None:
            release.wait(120)
            ran.append(number)

        assert workers.submit(number, job)
    workers.stop()
    release.set()
    until(workers.is_idle, within=5)
    assert sorted(ran) == [0, 1, 2, 3, 4]


def test_a_hundred_targets_that_never_answer_keep_no_other_from_being_scraped() -> None:
    workers, release, ran = Workers(), threading.Event(), []

    def hang() -> None:
        release.wait(120)

    for number in range(100):
        assert workers.submit(number, hang)
    assert workers.submit("good", lambda: ran.append("good"))
    until(lambda: ran == ["good"], within=10)
    release.set()
    workers.stop()
