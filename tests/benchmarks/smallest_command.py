"""A command of Typer that does nothing: what is left where `scaffold` does no work."""

from typing import Annotated

import typer

app = typer.Typer()


@app.command()
def new(folder: str, yes: Annotated[bool, typer.Option("--yes")] = False) -> None: ...


app()
