"""The data of a LightningModule or a LightningDataModule."""

import ast

from scaffold.eject.classes import (
    change_bases,
    keep_hyperparameters,
)
from scaffold.eject.flow import root
from scaffold.eject.lightning_optimizer import Optimizers
from scaffold.eject.plan import words
from scaffold.eject.script import methods

LOADERS = ("train_dataloader", "val_dataloader", "test_dataloader")


class Loaders(Optimizers):
    """Where the data comes from."""

    def _read_data(self) -> None:
        plan = self.plan
        data = self._datamodule()
        if data is not None:
            self._loaders_of(data)
        elif "train_dataloaders" in self.given:
            self._loaders_given()
        elif "train_dataloader" in self.module.methods:
            self._loaders_of_model()
        else:
            raise self.script.error(self.fit, "fit has no training data.")
        plan.answers.setdefault("training.batch_size", 32)

    def _datamodule(self) -> tuple[str, ast.ClassDef | None, ast.expr | None] | None:
        """The text that makes the data module, its class, and its expression."""
        if self.is_cli:
            given = words(self.trainer, ("model_class", "datamodule_class"))
            node = given.get("datamodule_class")
            if node is None:
                return None
            found = self.script.definitions.get(getattr(node, "id", ""))
            return (
                f"{self.script.code(node)}()",
                found if isinstance(found, ast.ClassDef) else None,
                None,
            )
        for name in ("datamodule", "train_dataloaders"):
            node = self.given.get(name)
            if node is None:
                continue
            value = self.plan.latest(node)
            called = getattr(value, "func", None)
            found = self.script.definitions.get(called.id) if isinstance(called, ast.Name) else None
            if isinstance(found, ast.ClassDef) and self.script.extends(
                found, "LightningDataModule"
            ):
                return self.script.code(node), found, node
            if name == "datamodule":
                return self.script.code(node), None, node
            if called is not None and self.script.named(called).endswith("DataModule"):
                return self.script.code(node), None, node
        return None

    def _loaders_of(self, data: tuple[str, ast.ClassDef | None, ast.expr | None]) -> None:
        plan, (text, node, value) = self.plan, data
        own: dict[str, ast.FunctionDef] = {}
        for part in reversed(self.script.bases(node)) if node else ():
            own |= methods(part)
            change_bases(plan, part, "LightningDataModule", "")
            keep_hyperparameters(plan, part)
        everything = ("prepare_data", "setup", *LOADERS)
        has = {name: name in own or node is None for name in everything}
        if node is None:
            plan.note(f"{text}: its class comes from a package, which the project still needs")
        rows = []
        made = plan.latest(value) if value is not None else None
        self.data_call = made if isinstance(made, ast.Call) else None
        self.added, kept = [], self.added
        if "train_dataloader" in own:
            for call in ast.walk(own["train_dataloader"]):
                if isinstance(call, ast.expr):
                    self._settle_loader(call, node)
        if value is None and self.added:
            text = f"{text.removesuffix('()')}({', '.join(self.added)})"
        self.added = kept
        if value is not None:
            rows = [plan.lines(self.needs(value))]
            text = plan.edits.apply(plan.edits.span(value))
        if not text.isidentifier():
            rows.append(f"data_module = {text}")
            text = "data_module"
        if has["prepare_data"]:
            rows += [
                "with PartialState().local_main_process_first():",
                f"    {text}.prepare_data()",
            ]
        if has["setup"]:
            rows.append(f'{text}.setup("fit")')
            if isinstance(value, ast.Name):  # only this one is set up, not that of what follows
                self.result |= {value.id}
        plan.has_val = has["val_dataloader"] and "validation_step" in self.module.methods
        plan.has_test = (
            has["test_dataloader"] and "test_step" in self.module.methods and self._tests()
        )
        if plan.has_test and has["setup"]:
            rows.append(f'{text}.setup("test")')
        loaders = [
            f"{text}.{name}()"
            for name, on in zip(LOADERS, (True, plan.has_val, plan.has_test), strict=True)
            if on
        ]
        plan.loaders = "\n".join(
            [*rows, f"return {', '.join(loaders)}" + ("," if len(loaders) == 1 else "")]
        )

    def _tests(self) -> bool:
        """Whether the script tests after training."""
        calls = self.script.source.calls("test")
        return any(root(call.func) in self.names for call in calls)

    def _loaders_given(self) -> None:
        plan = self.plan
        train, val = self.given["train_dataloaders"], self.given.get("val_dataloaders")
        loaders = [train]
        plan.has_val = val is not None and "validation_step" in self.module.methods
        if plan.has_val and val is not None:
            loaders.append(val)
        for call in self.script.source.calls("test"):
            if root(call.func) in self.names and "test_step" in self.module.methods:
                node = words(call, ("model", "dataloaders")).get("dataloaders")
                if node is not None:
                    plan.has_test = True
                    loaders.append(node)
        for node in loaders:
            if isinstance(self.plan.latest(node), (ast.List, ast.Tuple, ast.Dict)):
                raise self.script.error(node, "several loaders at once.")
        self._settle_loader(plan.latest(train))
        found = self.needs(*loaders)
        texts = [plan.edits.apply(plan.edits.span(node)) for node in loaders]
        end = "," if len(texts) == 1 else ""
        plan.loaders = "\n".join(
            part for part in (plan.lines(found), f"return {', '.join(texts)}{end}") if part
        )

    def _loaders_of_model(self) -> None:
        plan, own = self.plan, self.module.methods
        plan.loaders_take_model = True
        rows = []
        if "prepare_data" in own:
            rows += ["with PartialState().local_main_process_first():", "    model.prepare_data()"]
        if "setup" in own:
            rows.append('model.setup("fit")')
        plan.has_val = "val_dataloader" in own and "validation_step" in own
        plan.has_test = "test_dataloader" in own and "test_step" in own and self._tests()
        if plan.has_test and "setup" in own:
            rows.append('model.setup("test")')
        loaders = [
            f"model.{name}()"
            for name, on in zip(LOADERS, (True, plan.has_val, plan.has_test), strict=True)
            if on
        ]
        plan.loaders = "\n".join(
            [*rows, f"return {', '.join(loaders)}" + ("," if len(loaders) == 1 else "")]
        )
