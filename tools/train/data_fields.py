# SPDX-License-Identifier: Apache-2.0
"""Typed fields with values: a JSON Schema property, a value that fits it, and how a person says the value."""

import dataclasses
import json

from . import data_words as words


@dataclasses.dataclass
class Field:
    name: str
    schema: dict
    value: object
    spoken: str


def _text(dice):
    return dice.pick((
        lambda: f"the {dice.part(words.ADJECTIVES)} {dice.part(words.THINGS)}",
        lambda: f"{dice.part(words.ADJECTIVES)} {dice.part(words.ANIMALS)} near {dice.part(words.CITIES)}",
        lambda: f"{dice.part(words.NAMES)} likes {dice.part(words.FOODS)}",
        lambda: f"meet me at {dice.number(1, 12)} in {dice.part(words.CITIES)}",
        lambda: f"{dice.word()} {dice.part(words.NOUNS)}",
        lambda: f"buy {dice.part(words.FOODS)} and {dice.part(words.FOODS)}",
    ))()  # fmt: skip


def _name_value(dice, name):
    """A string that suits a field of this name, or any other."""
    suited = {
        "name": words.NAMES, "owner": words.NAMES, "city": words.CITIES, "day": words.DAYS, "room": words.ROOMS,
        "language": words.LANGUAGES, "category": words.THINGS, "label": words.ADJECTIVES,
    }  # fmt: skip
    if name == "email":
        return f"{dice.part(words.NAMES).lower()}@{dice.word()}.{dice.pick(('com', 'org', 'net'))}"
    if name in suited and dice.chance(0.7):
        return dice.part(suited[name])
    kind = dice.below(5)
    if kind == 0:
        return dice.word().capitalize()
    if kind == 1:
        return dice.word()
    if kind == 2:
        return f"{dice.part(words.ADJECTIVES)} {dice.part(words.THINGS)}"
    if kind == 3:
        return f"{dice.part(words.NAMES)} {dice.word().capitalize()}"
    return dice.part(words.THINGS)


def decimal(dice):
    value = dice.number(0, 999) + dice.pick((0.5, 0.25, 0.75, 0.1, 0.2, 0.4, 0.9))
    return -value if dice.chance(0.1) else value


def integer(dice):
    value = dice.number(*dice.pick(((0, 9), (1, 30), (10, 99), (100, 999), (1000, 9999))))
    return -value if dice.chance(0.06) else value


def _list_spoken(values):
    texts = [str(v) for v in values]
    return texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + " and " + texts[-1]


def _scalar(dice, name, kind):
    """(schema, value, spoken) of a field that is neither a list nor an object."""
    if kind == "integer":
        value = integer(dice)
        schema = {"type": "integer"}
        if dice.chance(0.15):
            schema["minimum"] = min(0, value)
        return schema, value, str(value)
    if kind == "number":
        value = decimal(dice) if dice.chance(0.8) else integer(dice)
        return {"type": "number"}, value, str(value)
    if kind == "boolean":
        value = dice.chance(0.5)
        spoken = dice.pick((("true", "yes", "on"), ("false", "no", "off"))[not value])
        return {"type": "boolean"}, value, spoken
    if kind == "enum":
        options = list(words.ENUMS.get(name) or dice.some(words.ADJECTIVES, 3))
        if dice.chance(0.4):
            options = dice.parts(words.ADJECTIVES + words.COLOURS, dice.between(2, 4))
        value = dice.pick(options)
        return {"type": "string", "enum": options}, value, value
    makers = {
        "string": lambda: _name_value(dice, name), "text": lambda: _text(dice), "code": dice.code,
        "date": lambda: f"20{dice.between(20, 35)}-{dice.between(1, 12):02}-{dice.between(1, 28):02}",
        "time": lambda: f"{dice.between(0, 23):02}:{dice.pick((0, 5, 10, 15, 20, 30, 40, 45, 50)):02}",
        "path": lambda: f"{dice.pick(('/', '', './'))}{dice.word()}/{dice.word()}.{dice.pick(('txt', 'py', 'md', 'csv', 'json'))}",
        "address": lambda: f"{dice.number(1, 99)} {dice.word().capitalize()} {dice.pick(('Street', 'Road', 'Lane'))}",
    }  # fmt: skip
    value = makers[kind]()
    return {"type": "string"}, value, f'"{value}"' if dice.chance(0.3) else value


def _list(dice, kind):
    count = dice.between(1, 4)
    if kind == "integers":
        values = [dice.number(0, 99) for _ in range(count)]
        return {"type": "array", "items": {"type": "integer"}}, values, _list_spoken(values)
    source = dice.pick((words.NAMES, words.FOODS, words.COLOURS, words.THINGS))
    values = dice.parts(source, min(count, 3))
    if dice.chance(0.3):
        values = [dice.word() for _ in range(count)]
    return {"type": "array", "items": {"type": "string"}}, values, _list_spoken(values)


def field(dice, name, kind):
    make = _list if kind in ("strings", "integers") else lambda d, k: _scalar(d, name, k)
    schema, value, spoken = make(dice, kind)
    if dice.chance(0.25):
        schema = {
            **schema,
            "description": dice.pick((f"The {name}", f"the {name} to use", f"{name} of it", name.capitalize())),
        }
    return Field(name, schema, value, spoken)


def fields(dice, count):
    """Different fields; some have a made-up name or a name of two words."""
    made, seen = [], set()
    while len(made) < count:
        name, kind = dice.part(words.FIELDS)
        if dice.chance(0.2):
            name = dice.word()
        elif dice.chance(0.2):
            name = f"{dice.part(words.NOUNS)}_{name}"
        if name not in seen:
            seen.add(name)
            made.append(field(dice, name, kind))
    return made


def nested(dice):
    """A field that is an object with one or two scalar members."""
    members = [f for f in fields(dice, 2) if not isinstance(f.value, list)] or [field(dice, "count", "integer")]
    schema = object_schema(dice, members)
    value = {f.name: f.value for f in members}
    name = dice.pick(("options", "details", "place", "settings", "extra", dice.word()))
    return Field(name, schema, value, json.dumps(value, ensure_ascii=False))


def object_schema(dice, members, optional=()):
    """Schema of an object with these fields; `optional` names those that are not required."""
    schema = {"type": "object", "properties": {f.name: f.schema for f in members}}
    required = [f.name for f in members if f.name not in optional]
    if required:
        schema["required"] = required
    if dice.chance(0.4):
        schema["additionalProperties"] = False
    return schema


def spoken_name(dice, name):
    return name.replace("_", " ") if dice.chance(0.4) else name


_PAIR = (
    "{n} {v}",
    "{n}: {v}",
    "{n}={v}",
    "{n} = {v}",
    "{n} is {v}",
    "{n} {v}",
    "{v} as {n}",
    "{n} set to {v}",
    "{n} should be {v}",
    "the {n} is {v}",
)
_JOIN = (", ", "; ", " and ", ", ")


def spoken_list(dice, members):
    """All fields with their values, as a person would list them."""
    form, join = dice.part(_PAIR), dice.pick(_JOIN)
    texts = []
    for f in members:
        if dice.chance(0.15):
            form = dice.part(_PAIR)
        texts.append(form.format(n=spoken_name(dice, f.name), v=f.spoken))
    if join == ", " and len(texts) > 1 and dice.chance(0.5):
        return ", ".join(texts[:-1]) + " and " + texts[-1]
    return join.join(texts)


def ordered(dice, members):
    """The fields in the order the model writes them: as the prompt shows them, sorted, but sometimes any."""
    return dice.shuffled(members) if dice.chance(0.25) else sorted(members, key=lambda f: f.name)
