"""A setting that is wrong is named, with its value and what would be right."""

import pytest

from lago.domain.kinds import KINDS
from lago.errors import SettingError
from lago.settings import http_settings, kind_policies, milliseconds, number, queue_shards, text, whole


def test_what_is_not_set_has_its_default():
    assert queue_shards({}) == 1
    assert http_settings({}).keepalive_seconds == 300
    assert text({}, "CONTACT", "") == ""


def test_seconds_become_milliseconds():
    assert milliseconds({"LEASE_SECONDS": "2.5"}, "LEASE_SECONDS", 60, low=1, high=900) == 2_500


@pytest.mark.parametrize("value", ["nonsense", "nan", "inf", "-1", "21", "1.5"])
def test_a_number_that_will_not_do_is_refused_by_name(value):
    with pytest.raises(SettingError, match=r"RETRY_ATTEMPTS: got .* expected a (whole )?number from 1 to 20"):
        whole({"RETRY_ATTEMPTS": value}, "RETRY_ATTEMPTS", 6, low=1, high=20)


def test_a_number_may_be_a_fraction_where_that_makes_sense():
    assert number({"RETRY_JITTER": "0.25"}, "RETRY_JITTER", 0.1, low=0, high=0.5) == 0.25


@pytest.mark.parametrize("environment", [{}, {"NOTIFY_FUNCTION": " "}])
def test_what_must_be_there_is_asked_for_by_name(environment):
    with pytest.raises(SettingError, match="NOTIFY_FUNCTION is not set"):
        text(environment, "NOTIFY_FUNCTION")


def test_a_kind_can_be_retried_otherwise_and_kept_longer():
    policies = kind_policies({"KIND_POLICIES": "price_drop=patient:48, new_ad=alert:2"})

    assert (policies["price_drop"].preset, policies["price_drop"].expiry) == ("patient", 48 * 3_600_000)
    assert (policies["new_ad"].preset, policies["new_ad"].expiry) == ("alert", 2 * 3_600_000)
    assert policies["watch_live"] == KINDS["watch_live"]
    assert kind_policies({}) == KINDS


@pytest.mark.parametrize(
    "value", ["new_ad", "new_ad=often:2", "telepathy=alert:2", "new_ad=alert:0", "new_ad=alert:721", "new_ad=alert:-1"]
)
def test_a_policy_that_will_not_do_is_refused_by_name(value):
    with pytest.raises(SettingError, match=r"KIND_POLICIES: got .* expected kind=alert:HOURS"):
        kind_policies({"KIND_POLICIES": value})
