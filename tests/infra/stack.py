"""The stack as CloudFormation would get it: `template.yaml` put through SAM's own translator, in process."""

import copy
import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

ROOT = Path(__file__).parents[2]
FUNCTIONS = ("drain", "scrape", "notify", "api")
NO_VALUE = {"Ref": "AWS::NoValue"}
BOUNDARY = "arn:aws:iam::123456789012:policy/bounds"

Properties = dict[str, Any]


@functools.cache
def _source() -> dict[str, Any]:
    template: dict[str, Any] = yaml_parse((ROOT / "template.yaml").read_text())
    return template


def source() -> dict[str, Any]:
    """The template as written, short functions (`!Ref`) in their long form."""
    return copy.deepcopy(_source())  # to read it takes a second


def cycle() -> dict[str, Any]:
    """The definition of the state machine."""
    definition: dict[str, Any] = json.loads((ROOT / "statemachine" / "cycle.asl.json").read_text())
    return definition


class Stack:
    """Resources after the translation, with parameters and conditions put in."""

    def __init__(self, **parameters: str) -> None:
        template = source()
        self.parameters = {
            name: str(parameters.get(name, declared["Default"])) for name, declared in template["Parameters"].items()
        }
        assert set(parameters) <= set(self.parameters)
        translated = copy.deepcopy(_translated(tuple(self.parameters.items())))
        self._conditions = {name: self._holds(rule) for name, rule in template["Conditions"].items()}
        self.resources: dict[str, dict[str, Any]] = {
            name: self.resolve(resource)
            for name, resource in translated["Resources"].items()
            if self._conditions.get(resource.get("Condition"), True)
        }
        self.outputs: dict[str, Any] = self.resolve(translated["Outputs"])

    def properties(self, name: str) -> Properties:
        """The properties of one resource."""
        found: Properties = self.resources[name]["Properties"]
        return found

    def of_type(self, kind: str) -> dict[str, Properties]:
        """The properties of all resources of a type, by logical id."""
        return {
            name: resource.get("Properties", {})
            for name, resource in self.resources.items()
            if resource["Type"] == f"AWS::{kind}"
        }

    def environment(self, function: str) -> dict[str, Any]:
        """The environment variables of one of the functions."""
        variables: dict[str, Any] = self.properties(f"{function.capitalize()}Function")["Environment"]["Variables"]
        return variables

    def resolve(self, value: Any) -> Any:
        """Put in parameters and conditions; functions that only CloudFormation can answer stay as they are."""
        match value:
            case {"Ref": str(name)} if name in self.parameters:
                return self.parameters[name]
            case {"Fn::If": [str(condition), yes, no]}:
                return self.resolve(yes if self._conditions[condition] else no)
            case {"Fn::FindInMap": [str(name), str(first), str(second)]}:
                return source()["Mappings"][name][first][second]
            case dict():
                resolved = {key: self.resolve(inner) for key, inner in value.items()}
                return {key: inner for key, inner in resolved.items() if inner != NO_VALUE}
            case list():
                return [inner for each in value if (inner := self.resolve(each)) != NO_VALUE]
        return value

    def text(self, value: Any) -> str:
        """A text made by `Fn::Sub`, put together; what only CloudFormation knows stays in it as `${...}`."""
        match value:
            case {"Fn::Sub": [str(template), dict(names)]}:
                for name, inner in names.items():
                    template = template.replace(f"${{{name}}}", self.text(inner))
                return template
            case {"Fn::Sub": str(template)}:
                return template
        assert isinstance(value, str), value
        return value

    def _holds(self, rule: Any) -> bool:
        match rule:
            case {"Fn::Not": [inner]}:
                return not self._holds(inner)
            case {"Condition": str(name)}:
                return self._holds(source()["Conditions"][name])
            case {"Fn::And": list(rules)}:
                return all(self._holds(rule) for rule in rules)
            case {"Fn::Or": list(rules)}:
                return any(self._holds(rule) for rule in rules)
            case {"Fn::Equals": [left, right]}:
                return bool(self.resolve(left) == self.resolve(right))
        raise AssertionError(f"a condition of a new kind: {rule}")


@functools.cache
def _translated(parameters: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    template = source()
    template["Transform"] = "AWS::Serverless-2016-10-31"  # the other transform only allows conditions in policies
    for resource in template["Resources"].values():
        for key in {"CodeUri", "ContentUri", "DefinitionUri"} & set(resource.get("Properties", {})):
            resource["Properties"][key] = "s3://bucket/key"
    translated: dict[str, Any] = Translator({}, Parser()).translate(template, dict(parameters))
    return translated


def statements(role: Properties) -> Iterator[dict[str, Any]]:
    """All statements of a role's own policies, `Action` and `Resource` as lists."""
    for policy in role.get("Policies", []):
        for statement in policy["PolicyDocument"]["Statement"]:
            yield {
                "Effect": statement["Effect"],
                "Action": _listed(statement["Action"]),
                "Resource": _listed(statement["Resource"]),
            }


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
