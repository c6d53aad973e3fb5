"""Findings as text, JSON, SARIF 2.1.0 or annotations of GitHub."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from scaffold.check.rule import all_rules
from scaffold.check.run import Finding


def as_text(findings: Sequence[Finding]) -> str:
    return "\n".join(f"{f.path}:{f.place}:{f.column}: {f.code} {f.text}" for f in findings)


def as_json(findings: Sequence[Finding]) -> str:
    """`{"findings": [{"path", "line", ...}]}`; later versions may add keys."""
    return json.dumps({"findings": [asdict(found) for found in findings]}, indent=1)


def as_github(findings: Sequence[Finding]) -> str:
    """Workflow commands, which GitHub shows beside the lines."""
    return "\n".join(
        f"::error file={_escape(found.path).replace(',', '%2C').replace(':', '%3A')},"
        f"line={found.line},col={found.column},title={found.code}::{_escape(found.text)}"
        for found in findings
    )


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def as_sarif(findings: Sequence[Finding]) -> str:
    rules = [
        {"id": rule.code, "name": rule.name, "fullDescription": {"text": rule.page}}
        for rule in all_rules()
    ]
    driver, results = {"name": "scaffold check", "rules": rules}, list(map(_result, findings))
    runs = [{"tool": {"driver": driver}, "results": results}]
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": runs}, indent=1)


def _result(found: Finding) -> Mapping[str, object]:
    place: dict[str, object] = {"artifactLocation": {"uri": found.path.replace("\\", "/")}}
    place["region"] = {"startLine": found.line, "startColumn": found.column}
    said = {"ruleId": found.code, "level": "warning", "message": {"text": found.text}}
    return {**said, "locations": [{"physicalLocation": place}]}


FORMATS = {"text": as_text, "json": as_json, "sarif": as_sarif, "github": as_github}
