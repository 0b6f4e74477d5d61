from tests.cli.fake_deployment import PARAMETERS, FakeDeployment
from tests.cli.fakes import a_world
from tests.cli.run import answer, lago

ADDRESS = "https://eu-central-1.console.aws.amazon.com/cloudwatch/home#dashboards/dashboard/lago"


def deployed(**changes: dict[str, str]) -> FakeDeployment:
    return FakeDeployment(**{"outputs": {"DashboardUrl": ADDRESS}, **changes})


def test_the_address_is_printed_and_no_browser_opened() -> None:
    opened: list[str] = []

    result = lago(a_world(deployment=deployed(), browser=opened), "dashboard")

    assert (result.stdout, result.stderr, opened) == (f"{ADDRESS}\n", "", [])
    assert answer(lago(a_world(deployment=deployed()), "dashboard", "--json")) == {"url": ADDRESS}


def test_it_is_opened_on_request() -> None:
    opened: list[str] = []

    result = lago(a_world(deployment=deployed(), browser=opened), "dashboard", "--open")

    assert opened == [ADDRESS]
    assert result.stdout == f"{ADDRESS}\n"


def test_without_a_browser_the_address_is_there_all_the_same() -> None:
    result = lago(a_world(deployment=deployed()), "dashboard", "--open")

    assert result.exit_code == 0
    assert result.stdout == f"{ADDRESS}\n"
    assert "open the address yourself" in result.stderr


def test_a_local_cloud_has_no_console_to_open() -> None:
    opened: list[str] = []
    local = deployed(parameters=PARAMETERS | {"AwsEndpointUrl": "http://127.0.0.1:4566"})

    result = lago(a_world(deployment=local, browser=opened), "dashboard", "--open")

    assert opened == []
    assert "`lago stats` has the figures" in result.stderr


def test_no_program_is_started_for_what_is_no_web_address() -> None:
    opened: list[str] = []
    other = deployed(outputs={"DashboardUrl": "file:///etc/passwd"})

    result = lago(a_world(deployment=other, browser=opened), "dashboard", "--open")

    assert (result.exit_code, opened) == (1, [])
    assert "has no dashboard" in result.stderr
