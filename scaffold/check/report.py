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
    results = [
        {
            "ruleId": found.code,
            "level": "warning",
            "message": {"text": found.text},
            "locations": [{"physicalLocation": _location(found)}],
        }
        for found in findings
    ]
    run = {"tool": {"driver": {"name": "scaffold check", "rules": rules}}, "results": results}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=1)


def _location(found: Finding) -> Mapping[str, object]:
    region = {"startLine": found.line, "startColumn": found.column}
    return {"artifactLocation": {"uri": found.path.replace("\\", "/")}, "region": region}


FORMATS = {"text": as_text, "json": as_json, "sarif": as_sarif, "github": as_github}
