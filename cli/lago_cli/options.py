"""The options that several commands share, each declared once."""

from typing import Annotated

import typer

StackName = Annotated[
    str,
    typer.Option(
        "--stack",
        envvar="LAGO_STACK",
        help="The name that the stack was deployed under.",
        rich_help_panel="Where",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.", rich_help_panel="Output")]

Wanted = Annotated[
    str,
    typer.Argument(
        metavar="KEYWORD|URL",
        help="What to look for: a keyword, or the address of a willhaben search copied from the browser.",
        show_default=False,
    ),
]
PriceFrom = Annotated[
    str | None,
    typer.Option("--price-from", metavar="EUR", help="Lowest price.", rich_help_panel="Narrow down"),
]
PriceTo = Annotated[
    str | None,
    typer.Option("--price-to", metavar="EUR", help="Highest price.", rich_help_panel="Narrow down"),
]
Category = Annotated[
    str | None,
    typer.Option(
        "--category",
        metavar="ID",
        help="Number of a marketplace category: the last number in the address of its page.",
        rich_help_panel="Narrow down",
    ),
]
Areas = Annotated[
    list[str] | None,
    typer.Option(
        "--area",
        metavar="NAME|ID",
        help="A federal state by name, or any area by its areaId. Repeat it for several.",
        rich_help_panel="Narrow down",
    ),
]
Private = Annotated[
    bool,
    typer.Option("--private", help="Only private sellers.", rich_help_panel="Narrow down"),
]
Dealer = Annotated[
    bool,
    typer.Option("--dealer", help="Only dealers.", rich_help_panel="Narrow down"),
]
Paylivery = Annotated[
    bool,
    typer.Option("--paylivery", help="Only ads with PayLivery.", rich_help_panel="Narrow down"),
]

DEFAULT_STACK = "lago"
