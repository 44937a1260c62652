"""How a setting is declared: its type, its default, its range and its sentence, in one place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo
from typing_extensions import Self

from pyinfra_nvml.settings.wrong import RefusedSettings, Wrong, WrongValue, wrong_value


class Expected:
    """Stands in a declaration: what its value has to be, where the type alone does not say it."""

    def __init__(self, words: str) -> None:
        self.words = words


class Declared(BaseModel):
    """The settings of one subject; a value of another type is wrong: "3" for 3, True for 1."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of its settings, as an inventory writes them."""
        return tuple(field.alias or name for name, field in cls.model_fields.items())

    @classmethod
    def read(cls, given: Mapping[str, object]) -> Self:
        """The settings that are meant by these values; refuses all that are wrong at once."""
        values = dict(cls._meant(given))
        try:
            return cls.model_validate(values)
        except ValidationError as fault:
            wrong = [one for error in fault.errors() for one in cls._wrong(error, values)]
        names = {one.setting for one in wrong}
        try:
            # What two settings say together is looked at only where each makes sense.
            cls.model_validate({name: values[name] for name in values if name not in names})
        except ValidationError as fault:
            more = [one for error in fault.errors() for one in cls._wrong(error, values)]
            wrong += [one for one in more if one.setting not in names]
        raise RefusedSettings(*dict.fromkeys(wrong))

    @classmethod
    def _meant(cls, given: Mapping[str, object]) -> Iterator[tuple[str, object]]:
        """None means no value where a setting may have none, and else its default.

        ``--data report_html=None`` gives the text (pyinfra_cli/util.py, 3.10.0, parse_cli_arg).
        """
        for name, field in cls.model_fields.items():
            key = field.alias or name
            if key not in given:
                continue
            none = type(None) in get_args(field.annotation)
            value = None if none and given[key] == "None" else given[key]
            if value is not None or none:
                yield key, value

    @classmethod
    def _wrong(cls, error: Mapping[str, Any], values: Mapping[str, object]) -> tuple[Wrong, ...]:
        raised = error.get("ctx", {}).get("error")
        if isinstance(raised, WrongValue):
            return raised.wrong
        name = str(error["loc"][0])
        field = next(f for key, f in cls.model_fields.items() if (f.alias or key) == name)
        return (wrong_value(name, values.get(name, error["input"]), expected(field)),)


def expected(field: FieldInfo) -> str:
    """What a setting's value has to be, in words: ``a number from 1``."""
    for each in field.metadata:
        if isinstance(each, Expected):
            return each.words
    if field.annotation is bool:
        return "true or false"
    if get_origin(field.annotation) is Literal:
        return f"one of {', '.join(get_args(field.annotation))}"
    least = next(each.ge for each in field.metadata if hasattr(each, "ge"))
    return f"a number from {least}"
