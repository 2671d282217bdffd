# SPDX-License-Identifier: Apache-2.0
"""Makes testdata/grammar/tools.jsonl: parameter schemas of tools as people send them, with instances that conform and that do not.

    python -m tools.make_tool_schemas [--check]      needs jsonschema, which judges every instance

tools/tool_schemas.txt says what the tools are; they are written in the styles of pydantic, zod, OpenAI strict mode and plain JSON Schema in
turn. What that notation cannot say stands in RAW below. The same bytes on every machine: no random module, no dictionary order.
"""

import argparse
import hashlib
import json
import pathlib
import re
import sys

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "tools" / "tool_schemas.txt"
TARGET = ROOT / "testdata" / "grammar" / "tools.jsonl"
STYLES = ("plain", "pydantic", "zod", "strict")
SCALARS = ("string", "integer", "number", "boolean", "null")

RAW = {
    "discriminated_shapes": {"type": "object", "properties": {"shape": {"oneOf": [
        {"type": "object", "properties": {"kind": {"const": "circle"}, "radius": {"type": "number", "exclusiveMinimum": 0}}, "required": ["kind", "radius"], "additionalProperties": False},
        {"type": "object", "properties": {"kind": {"const": "rect"}, "width": {"type": "number"}, "height": {"type": "number"}}, "required": ["kind", "width", "height"], "additionalProperties": False}]}}, "required": ["shape"]},
    "union_of_actions": {"type": "object", "properties": {"action": {"anyOf": [
        {"type": "object", "properties": {"type": {"type": "string", "enum": ["click"]}, "x": {"type": "integer"}, "y": {"type": "integer"}}, "required": ["type", "x", "y"], "additionalProperties": False},
        {"type": "object", "properties": {"type": {"type": "string", "enum": ["type"]}, "text": {"type": "string"}}, "required": ["type", "text"], "additionalProperties": False},
        {"type": "object", "properties": {"type": {"type": "string", "enum": ["wait"]}, "seconds": {"type": "number", "minimum": 0}}, "required": ["type", "seconds"], "additionalProperties": False}]}}, "required": ["action"], "additionalProperties": False},
    "coordinate_pair": {"type": "object", "properties": {"point": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}], "items": False, "minItems": 2}}, "required": ["point"]},
    "string_or_list": {"type": "object", "properties": {"input": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}}, "required": ["input"]},
    "extended_entity": {"type": "object", "allOf": [{"properties": {"id": {"type": "string", "format": "uuid"}}, "required": ["id"]}, {"properties": {"name": {"type": "string"}, "active": {"type": "boolean"}}, "required": ["name"]}]},
    "prefixed_settings": {"type": "object", "patternProperties": {"^x-[a-z]+$": {"type": "string"}, "^n_": {"type": "integer"}}, "properties": {"x-mode": {"type": "string"}, "n_workers": {"type": "integer"}}, "additionalProperties": False},
    "delivery": {"type": "object", "properties": {"method": {"enum": ["pickup", "courier"]}, "address": {"type": "string", "minLength": 5}}, "required": ["method"], "if": {"properties": {"method": {"const": "courier"}}}, "then": {"required": ["address"]}},
    "card_payment": {"type": "object", "properties": {"name": {"type": "string"}, "credit_card": {"type": "string", "pattern": "^[0-9]{16}$"}, "billing_address": {"type": "string"}}, "required": ["name"], "dependentRequired": {"credit_card": ["billing_address"]}},
    "labels_map": {"type": "object", "properties": {"labels": {"type": "object", "propertyNames": {"pattern": "^[a-z][a-z0-9_]*$"}, "additionalProperties": {"type": "string"}, "maxProperties": 8}}, "required": ["labels"]},
    "nullable_everything": {"type": "object", "properties": {"a": {"type": ["string", "null"]}, "b": {"type": ["integer", "null"], "minimum": 0}, "c": {"anyOf": [{"type": "array", "items": {"type": ["number", "null"]}}, {"type": "null"}]}}, "required": ["a", "b", "c"], "additionalProperties": False},
    "json_patch": {"type": "object", "properties": {"patch": {"type": "array", "items": {"anyOf": [
        {"type": "object", "properties": {"op": {"enum": ["add", "replace"]}, "path": {"type": "string"}, "value": {}}, "required": ["op", "path", "value"], "additionalProperties": False},
        {"type": "object", "properties": {"op": {"const": "remove"}, "path": {"type": "string"}}, "required": ["op", "path"], "additionalProperties": False}]}}}, "required": ["patch"]},
    "not_admin": {"type": "object", "properties": {"user": {"type": "string", "not": {"enum": ["root", "admin"]}}, "reason": {"type": "string"}}, "required": ["user"], "additionalProperties": False},
    "version_pin": {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://example.com/pin.json", "type": "object", "properties": {"package": {"type": "string", "pattern": "^(@[a-z0-9-]+/)?[a-z0-9-]+$"}, "version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$"}}, "required": ["package", "version"]},
}  # fmt: skip

TEXTS = {
    "location": ["Lisbon, Portugal", "São Paulo, Brazil", "東京"], "city": ["Porto", "Zürich"], "timezone": ["Europe/Lisbon"],
    "path": ["/src/server/main.py", "README.md", "/etc/nginx/nginx.conf"], "file": ["src/app.ts", "lib/parse.c"],
    "content": ["def main():\n    print(\"hello\")\n\n\nif __name__ == \"__main__\":\n    main()\n", "# Notes\n\n- first\n- second \\ third\n"],
    "old_text": ["return a + b;", "import os\nimport sys"], "new_text": ["return a * b;", "import os\n"],
    "command": ["git log --oneline -n 20 | grep 'fix'", "find . -name \"*.py\" -newer setup.py"],
    "code": ["import math\nprint([math.sqrt(x) for x in range(10)])", "x = {\"a\": 1}\nprint(x['a'])"],
    "query": ["SELECT id, name FROM users WHERE created_at > '2026-01-01' ORDER BY id LIMIT 10", "best ramen near Shibuya station", "error AND service:checkout"],
    "body": ["Hi Ana,\n\nthe report is attached. It covers Q3 – please check the \"Totals\" tab.\n\nBest,\nTom", "Steps to reproduce:\n1. open settings\n2. click Save"],
    "text": ["The quick brown fox jumps over the lazy dog.", "Olá! Preciso de ajuda com a minha encomenda nº 4417."],
    "email": ["ana.silva@example.com", "tom@example.org"], "to": ["ana.silva@example.com"], "url": ["https://example.com/docs/page?x=1&y=2"],
    "title": ["Quarterly planning", "Fix flaky test in scheduler"], "name": ["Ana Silva", "web-frontend", "total_price"],
    "prompt": ["A watercolor of a lighthouse at dusk, soft light", "Summarise the open issues and propose an order of work."],
    "thought": ["First I need to know which service writes this table; the logs should say."],
    "patch": ["--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n-a = 1\n+a = 2\n b = 3\n"],
}  # fmt: skip
SENTENCES = ["Please check this again before Friday.", "main", "A short note with \"quotes\" and a backslash \\.", "alpha", "order-2291", "It's done: 3 of 4 pass.", "naïve café ☕", "value"]
FORMATS = {
    "date": ["2026-03-14", "2025-12-01"], "date-time": ["2026-03-14T09:30:00Z", "2026-07-01T18:00:00+02:00"], "uuid": ["3f2b8c1e-9d47-4a60-8f11-0c5d2e7a9b34"],
    "email": ["ana.silva@example.com"], "uri": ["https://example.com/hooks/42"], "hostname": ["api.example.com"], "ipv4": ["192.0.2.17"],
}  # fmt: skip


class Dice:
    """Numbers that depend on a name only."""

    def __init__(self, name):
        self._name, self._count = name, 0

    def below(self, bound):
        self._count += 1
        digest = hashlib.sha256(f"{self._name}/{self._count}".encode()).digest()
        return int.from_bytes(digest[:8], "little") % bound

    def pick(self, items):
        return items[self.below(len(items))]


# ---- tool_schemas.txt ----


def read_tools(text):
    """[(name, {object name or None: (options, [(field, optional, type, options, description)])})]"""
    tools = []
    for paragraph in re.split(r"\n\s*\n", "\n".join(line for line in text.splitlines() if not line.startswith("#"))):
        lines = [line for line in paragraph.splitlines() if line.strip()]
        if not lines:
            continue
        objects, current = {None: ({}, [])}, None
        for line in lines[1:]:
            if line.startswith("object "):
                words = line.split()
                current = words[1]
                objects[current] = (options_of(words[2:]), [])
            else:
                objects[current][1].append(field_of(line))
        tools.append((lines[0].strip(), objects))
    return tools


def options_of(words):
    return dict(word.split("=", 1) for word in words)


def field_of(line):
    head, _, description = line.partition(" | ")
    name, rest = head.split(" ", 1)
    words = rest.split(" ")
    while words and re.fullmatch(r"[a-zA-Z]+=\S+", words[-1]):
        words.pop()
    kind = " ".join(words)
    options = options_of(rest[len(kind) :].split())
    return name.rstrip("?"), name.endswith("?"), kind, options, description.strip()


class Builder:
    """Writes one tool in one style."""

    def __init__(self, objects, style):
        self._objects, self._style = objects, style
        self._used = []
        self._recursive = {name for name in objects if name and name in self._reached(name, set())}

    def _reached(self, name, seen):
        for _, _, kind, _, _ in self._objects[name][1]:
            target = kind.rstrip("[]")[1:] if kind.startswith("@") else None
            if target and target not in seen:
                seen.add(target)
                self._reached(target, seen)
        return seen

    def document(self):
        root = self._object(None)
        if self._style == "zod":
            root = {"$schema": "https://json-schema.org/draft/2020-12/schema", **root}
        definitions, done = {}, 0
        while done < len(self._used):
            definitions[self._used[done]] = self._object(self._used[done])
            done += 1
        return {**root, **({"$defs": definitions} if definitions else {})}

    def _object(self, name):
        options, fields = self._objects[name]
        closed = self._style in ("zod", "strict")
        properties, required = {}, []
        for field, optional, kind, field_options, description in fields:
            schema = self._typed(kind, field_options)
            if optional and self._style in ("pydantic", "strict"):
                schema = self._nullable(schema)
            if self._style == "pydantic":
                schema = {**schema, **({"default": None} if optional else {}), "title": field.replace("_", " ").title()}
            if description:
                schema = {**schema, "description": description}
            properties[field] = schema
            if not optional or self._style == "strict":
                required.append(field)
        out = {"type": "object", "properties": properties}
        if self._style == "pydantic":
            out["title"] = name or "Arguments"
        if required:
            out["required"] = required
        out.update({key: int(value) for key, value in options.items() if key != "additional"})
        if "additional" in options:
            out["additionalProperties"] = self._typed(options["additional"], {}) if options["additional"] != "any" else True
        elif closed:
            out["additionalProperties"] = False
        return out

    def _nullable(self, schema):
        if self._style == "strict" and isinstance(schema.get("type"), str) and "enum" not in schema:
            return {**schema, "type": [schema["type"], "null"]}
        return {"anyOf": [schema, {"type": "null"}]}

    def _typed(self, kind, options):
        numbers = {k: (v == "true" if v in ("true", "false") else json.loads(v)) for k, v in options.items() if k != "format"}
        if kind.endswith("[]"):
            return {"type": "array", "items": self._typed(kind[:-2], {}), **numbers}
        if kind == "any":
            return {}
        if kind in SCALARS:
            return {"type": kind, **({"format": options["format"]} if "format" in options else {}), **numbers}
        if kind.startswith("^"):
            return {"type": "string", "pattern": kind, **numbers}
        if kind.startswith("@"):
            name = kind[1:]
            if self._style in ("plain", "zod") and name not in self._recursive:
                return self._object(name)
            if name not in self._used:
                self._used.append(name)
            return {"$ref": f"#/$defs/{name}"}
        return {"type": "string", "enum": kind.split("|")}


# ---- instances ----


def sample_pattern(pattern, dice):
    """A string the pattern matches; for the plain patterns of this file."""
    from re import _parser

    def one_of(items):
        if items[0][0] is _parser.NEGATE:
            return "x"
        kind, value = dice.pick(items)
        if kind is _parser.RANGE:
            return chr(value[0] + dice.below(value[1] - value[0] + 1))
        if kind is _parser.CATEGORY:
            return str(dice.below(10))
        return chr(value)

    def walk(nodes):
        out = ""
        for kind, value in nodes:
            if kind is _parser.LITERAL:
                out += chr(value)
            elif kind is _parser.NOT_LITERAL:
                out += "x"
            elif kind is _parser.IN:
                out += one_of(value)
            elif kind is _parser.ANY:
                out += "a"
            elif kind is _parser.BRANCH:
                out += walk(dice.pick(value[1]))
            elif kind is _parser.SUBPATTERN:
                out += walk(value[3])
            elif kind is _parser.MAX_REPEAT:
                low, high, item = value
                for _ in range(low + dice.below(min(int(high) - low, 6) + 1)):
                    out += walk(item)
        return out

    return walk(_parser.parse(pattern))


class Sampler:
    def __init__(self, root, dice, share):
        self._root, self._dice, self._share = root, dice, share

    def value(self, schema, name="", depth=0):
        dice = self._dice
        if "$ref" in schema:
            target = self._root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
            return self.value(target, name, depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return dice.pick(schema["enum"])
        for choice in ("anyOf", "oneOf"):
            if choice in schema:
                branches = schema[choice]
                return self.value(branches[-1] if depth > 4 else dice.pick(branches), name, depth)
        kind = schema.get("type", "string")
        if isinstance(kind, list):
            kind = dice.pick(kind)
        if kind == "object" or "allOf" in schema:
            return self._object(schema, depth)
        return {
            "array": lambda: self._array(schema, name, depth),
            "string": lambda: self._string(schema, name),
            "integer": lambda: self._number(schema, schema.get("multipleOf", 1)),
            "number": lambda: self._number(schema, schema.get("multipleOf", 0.25)),
            "boolean": lambda: dice.below(2) == 1,
            "null": lambda: None,
        }[kind]()

    def _object(self, schema, depth):
        parts = [schema, *schema.get("allOf", [])]
        out = {}
        for part in parts:
            for name, property_schema in part.get("properties", {}).items():
                wanted = depth < 4 and self._dice.below(100) < self._share or len(out) < part.get("minProperties", 0)
                if name in part.get("required", []) or wanted:
                    out[name] = self.value(property_schema, name, depth + 1)
        additional = schema.get("additionalProperties")
        if isinstance(additional, dict):
            for key in ("env", "team_a", "region")[: self._dice.below(4)]:
                out[key] = self.value(additional, key, depth + 1)
        return out

    def _array(self, schema, name, depth):
        if "prefixItems" in schema:
            return [self.value(item, name, depth + 1) for item in schema["prefixItems"]]
        low = schema.get("minItems", 0)
        count = min(schema.get("maxItems", 99), low + (0 if depth > 4 else self._dice.below(3)))
        out = []
        for _ in range(4 * count):
            item = self.value(schema["items"], name.rstrip("s"), depth + 1)
            if len(out) < count and not (schema.get("uniqueItems") and item in out):
                out.append(item)
        return out

    def _string(self, schema, name):
        if "pattern" in schema:
            return sample_pattern(schema["pattern"], self._dice)
        texts = FORMATS.get(schema.get("format")) or TEXTS.get(name) or SENTENCES
        text = self._dice.pick(texts)
        while len(text) < schema.get("minLength", 0):
            text += " and more"
        return text[: schema.get("maxLength", 100000)]

    def _number(self, schema, step):
        low = schema.get("minimum", schema.get("exclusiveMinimum", 0 if "maximum" not in schema else schema["maximum"] - 100 * step))
        high = schema.get("maximum", low + 400 * step)
        first = int(-(-low // step))
        count = max(1, min(int(high // step) - first + 1, 1000))
        k = first + self._dice.below(count)
        if k * step == schema.get("exclusiveMinimum"):
            k += 1
        value = round(k * step, 4)
        return int(value) if value == int(value) else value


def broken(instance, schema, dice):
    """The instance with one thing wrong, if luck will have it."""
    if not isinstance(instance, dict) or not instance:
        return [instance]
    out = dict(instance)
    key = dice.pick(sorted(out))
    kind = dice.below(4)
    if kind == 0:
        del out[key]
    elif kind == 1:
        out[key] = {"unexpected": True} if not isinstance(out[key], dict) else "unexpected"
    elif kind == 2 and isinstance(out[key], (dict, list)) and out[key]:
        inner = out[key] if isinstance(out[key], dict) else out[key][0]
        changed = broken(inner, schema, dice)
        out[key] = changed if isinstance(out[key], dict) else [changed, *out[key][1:]]
    else:
        out["unknown_" + key] = 1
    return out


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def entry_of(name, schema):
    judge = jsonschema.Draft202012Validator(schema)
    judge.check_schema(schema)
    valid, invalid = [], []
    for number, share in enumerate((100, 50, 0)):
        # if, not and dependentRequired are met by luck.
        for attempt in range(20):
            dice = Dice(f"{name}/{number}/{attempt}")
            value = Sampler(schema, dice, max(share, 50 if attempt else 0)).value(schema)
            if judge.is_valid(value):
                break
        else:
            sys.exit(f"{name}: {compact(value)}: {next(judge.iter_errors(value)).message}")
        if compact(value) not in valid:
            valid.append(compact(value))
        other = broken(value, schema, dice)
        if not judge.is_valid(other) and compact(other) not in invalid:
            invalid.append(compact(other))
    return {"name": name, "schema": compact(schema), "instances": valid, "invalid": invalid}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether the file is what this program writes")
    options = parser.parse_args()
    entries = []
    for number, (name, objects) in enumerate(read_tools(SOURCE.read_text())):
        style = STYLES[number % len(STYLES)]
        entries.append(entry_of(f"{name}.{style}", Builder(objects, style).document()))
    entries += [entry_of(name, schema) for name, schema in RAW.items()]
    text = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
    if options.check:
        sys.exit(0 if TARGET.read_text() == text else f"{TARGET} is not what tools/make_tool_schemas.py writes")
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(text)
    print(f"{len(entries)} tools, {sum(len(e['instances']) for e in entries)} instances, {sum(len(e['invalid']) for e in entries)} invalid, {len(text)} bytes")


if __name__ == "__main__":
    main()
