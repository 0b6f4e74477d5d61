"""The tables as `template.yaml` lays them, so that tests and stack cannot drift."""

from pathlib import Path
from typing import Any

import boto3
import yaml

TEMPLATE = Path(__file__).parents[1] / "template.yaml"
NAMES = {
    "SearchesTable": "searches",
    "WatchesTable": "watches",
    "QueueTable": "notification_queue",
    "DeliveriesTable": "deliveries",
}
UNDERSTOOD = ("AttributeDefinitions", "KeySchema", "LocalSecondaryIndexes", "GlobalSecondaryIndexes", "BillingMode")


class _Loader(yaml.SafeLoader):
    """YAML with CloudFormation's short functions, read as plain values."""


_Loader.add_multi_constructor("!", lambda loader, _, node: _plain(loader, node))


def _plain(loader: yaml.SafeLoader, node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    assert isinstance(node, yaml.MappingNode)
    return loader.construct_mapping(node, deep=True)


def create_tables(endpoint: str | None = None) -> None:
    """Create the four tables at the endpoint (moto in process when None)."""
    resources = yaml.load(TEMPLATE.read_text(), _Loader)["Resources"]
    client = boto3.client("dynamodb", endpoint_url=endpoint)
    for logical, name in NAMES.items():
        properties = resources[logical]["Properties"]
        client.create_table(TableName=name, **{key: properties[key] for key in UNDERSTOOD if key in properties})
