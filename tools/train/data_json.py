# SPDX-License-Identifier: Apache-2.0
"""Skill 3: JSON to a schema, or as any object. The content has no white space between values."""

import json

from . import data_words as words
from .data_chat import system_prompt, vary
from .data_fields import Field, fields, nested, object_schema, ordered, spoken_list
from .data_sample import Sample, assistant, effort_of, thoughts, user

_ASK = (
    "{args}.", "Give me JSON: {args}.", "Make a JSON object with {args}.", "Write this as JSON: {args}.", "Extract the data: {args}.",
    "Fill in: {args}.", "{args}. As JSON, please.", "Convert to JSON. {args}", "The data is {args}.", "A record: {args}.", "Here are the facts: {args}.",
    "Put this into the schema: {args}", "Return an object where {args}.", "JSON with {args}", "Take {args}.", "I have {args}. Make JSON of it.",
)  # fmt: skip


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _string(name, value):
    return Field(name, {"type": "string"}, value, value)


def _integer(name, value):
    return Field(name, {"type": "integer"}, value, str(value))


def _story(dice):
    """(text, fields) of a sentence from which values are to be extracted."""
    name, city, age = dice.part(words.NAMES), dice.part(words.CITIES), dice.between(18, 90)
    job, food, number = dice.part(words.JOBS), dice.part(words.FOODS), dice.number(1, 60)
    colour, thing, day = dice.part(words.COLOURS), dice.part(words.THINGS), dice.part(words.DAYS)
    kind = dice.below(4)
    if kind == 0:
        text = dice.part(
            (
                f"{name} is {age} years old and lives in {city}.",
                f"{name}, {age}, is from {city}.",
                f"In {city} lives {name}, who is {age}.",
                f"My friend {name} ({age}) lives in {city}.",
            )
        )
        return text, [_string("name", name), _integer("age", age), _string("city", city)]
    if kind == 1:
        text = dice.part(
            (
                f"{name} works as a {job} in {city}.",
                f"The {job} {name} works in {city}.",
                f"{name} from {city} is a {job}.",
                f"In {city}, {name} is a {job}.",
            )
        )
        return text, [_string("name", name), _string("job", job), _string("city", city)]
    if kind == 2:
        text = dice.part(
            (
                f"{name} bought {number} {food} on {day}.",
                f"On {day}, {name} bought {number} {food}.",
                f"{number} {food} were sold to {name} on {day}.",
                f"{name} wants {number} {food} on {day}.",
            )
        )
        return text, [
            _string("customer", name),
            _integer("quantity", number),
            _string("item", food),
            _string("day", day),
        ]
    text = dice.part(
        (
            f"The {colour} {thing} costs {number} euros.",
            f"A {colour} {thing} for {number} euros.",
            f"{number} euros for the {colour} {thing}.",
            f"I sell a {colour} {thing}; it costs {number}.",
        )
    )
    return text, [_string("color", colour), _string("item", thing), _integer("price", number)]


def _finish(dice, text, members, schema, value=None):
    effort = effort_of(dice)
    value = {f.name: f.value for f in ordered(dice, members)} if value is None else value
    keys = ", ".join(f.name for f in members)
    think = thoughts(
        dice,
        effort,
        f"The answer is JSON with {keys}.",
        "I take the values from the message.",
        "Values: " + "; ".join(f"{f.name} {f.spoken}" for f in members) + ".",
    )
    if schema is None:
        form = {"type": "json_object"}
    else:
        form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    messages = [*system_prompt(dice, 0.15), user(text), assistant(compact(value), think)]
    return Sample("json", messages, {"json": value}, effort, response_format=form)


def _described(dice, schema):
    if dice.chance(0.15):
        schema["title"] = dice.part(words.NOUNS).capitalize()
    return schema


def json_answer(dice):
    kind = dice.weighted({"fields": 55, "story": 25, "list": 20})
    if kind == "list":
        return _list_answer(dice)
    if kind == "story":
        text, members = _story(dice)
        text = vary(dice, text)
        if dice.chance(0.4):  # only some of the keys are wanted
            members = dice.some(members, dice.between(1, len(members)))
    else:
        members = fields(dice, dice.pick((1, 2, 2, 3, 3, 4, 5)))
        if dice.chance(0.15):
            members.append(nested(dice))
        args = spoken_list(dice, dice.shuffled(members))
        text = dice.part(_ASK).format(args=args)
        text = text[:1].upper() + text[1:] if dice.chance(0.5) else text
    schema = _described(dice, object_schema(dice, members))
    if kind == "fields" and dice.chance(0.2):
        schema = None
    return _finish(dice, text, members, schema)


def _list_answer(dice):
    """An object with one array of strings, numbers or objects."""
    name, kind = dice.pick((dice.part(words.NOUNS) + "s", "items", "list", "values", dice.word())), dice.below(3)
    count = dice.between(1, 4)
    if kind == 0:
        values, item = (
            [dice.word() if dice.chance(0.3) else dice.part(words.THINGS) for _ in range(count)],
            {"type": "string"},
        )
        shown = ", ".join(values)
    elif kind == 1:
        values, item = [dice.number(0, 999) for _ in range(count)], {"type": "integer"}
        shown = ", ".join(map(str, values))
    else:
        pairs = [(dice.part(words.NAMES), dice.number(1, 99)) for _ in range(count)]
        key = dice.part(("age", "score", "points", "count", "votes", "level", "wins", "size"))
        values, item = (
            [{"name": n, key: v} for n, v in pairs],
            {
                "type": "object",
                "properties": {"name": {"type": "string"}, key: {"type": "integer"}},
                "required": ["name", key],
            },
        )
        shown = ", ".join(f"{n} {key} {v}" for n, v in pairs)
    text = dice.part(
        (
            "{name}: {shown}",
            "List these as {name}: {shown}.",
            "The {name} are {shown}.",
            "Make JSON of the {name}: {shown}",
            "{shown} are the {name}.",
            "Put {shown} into {name}.",
            "{name} = {shown}",
            "As {name}: {shown}",
        )
    ).format(name=name, shown=shown)
    member = Field(name, {"type": "array", "items": item}, values, shown)
    return _finish(dice, text, [member], object_schema(dice, [member]))
