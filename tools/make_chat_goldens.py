#!/usr/bin/env python3
"""Makes golden/chat: prompts by an independent renderer, and JSON as Python spells it.

The renderer below was written from the description of K3's prompt format, not from the C++, and
leans on Python's own json module, which is what the format is defined by. Deterministic: running it
again must leave the files unchanged.

  python3 tools/make_chat_goldens.py [--check]
"""
import json
import pathlib
import random
import sys

OUT = pathlib.Path(__file__).resolve().parent.parent / "golden" / "chat"

EFFORT = ("`thinking_effort` guides on how much to think in your thinking channel (not including the response "
          "channel), supported values include `low`, `medium`, `high`, and `max`.\n"
          "Now the system is invoked with `thinking_effort=%s`.")
CHOICE = {"required": "The system is invoked with `tool_choice=required`.\nYou MUST call tools in the next message.",
          "none": "The system is invoked with `tool_choice=none`.\nYou MUST NOT call any tools in the next message."}
FORMAT = ("The system is invoked with `response_format=%s`.\nYour response must be raw JSON data without markdown "
          "code blocks (```json) or any additional formatting.")
STATIC = "# Tools\nHere are the available tools, described in JSONSchema.\n\n```json\n%s\n```"
DYNAMIC = ("## New Tools Available\nThe system dynamically extends the toolset via lazy-loading.\nYou have access to "
           "all existing and extended tools.\nHere are the specs for the extended tools.\n\n```json\n%s\n```")


def dump(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def image_tokens(w, h):
    scale = min(1, (65536 / (max(1, w // 14) * max(1, h // 14))) ** 0.5, 7168 / w, 7168 / h)
    w, h = (min(max(1, int(side * scale)), 7168) for side in (w, h))
    return -(-w // 28) * -(-h // 28)


class Renderer:
    def __init__(self, thinking=True, thinking_effort="max", tool_choice="auto", response_format=None,
                 add_generation_prompt=True):
        self.out = []
        self.thinking, self.effort = thinking, thinking_effort
        self.choice, self.format, self.generate = tool_choice, response_format, add_generation_prompt

    def special(self, text):
        self.out.append([text, True])

    def text(self, text):
        if text:
            self.out.append([text, False])

    def open(self, tag, **attributes):
        self.special("<|open|>")
        self.text(tag)
        for key, value in attributes.items():
            self.text(" " + key)
            self.text('="')
            self.text(str(value).replace("&", "&amp;").replace('"', "&quot;"))
            self.text('"')
        self.special("<|sep|>")

    def close(self, tag):
        self.special("<|close|>")
        self.text(tag)
        self.special("<|sep|>")

    def eom(self):
        self.close("message")
        self.special("<|end_of_msg|>")

    def internal(self, kind, text):
        self.open("message", role="system", type=kind)
        self.text(text)
        self.eom()

    def content(self, content):
        if isinstance(content, str):
            return self.text(content)
        text = ""
        for part in content or []:
            if part["type"] == "text":
                text += part["text"]
                continue
            self.text(text)
            text = ""
            w, h = part["width"], part["height"]
            self.special(f"<|media_begin|>image {w}x{h}<|media_content|>" + "<|media_pad|>" * image_tokens(w, h)
                         + "<|media_end|>")
        self.text(text)

    def named(self, message, **attributes):
        if message.get("name"):
            attributes["name"] = message["name"]
        self.open("message", **attributes)

    def call(self, call, index):
        self.open("call", tool=call["function"]["name"], index=index)
        raw = call["function"].get("arguments") or ""
        if raw.strip():
            try:
                value = json.loads(raw)
            except ValueError:
                value = raw
            if isinstance(value, dict):
                for key, item in value.items():
                    kind = {bool: "boolean", type(None): "null", int: "number", float: "number", str: "string",
                            dict: "object", list: "array"}[type(item)]
                    self.open("argument", key=key, type=kind)
                    self.text(item if isinstance(item, str) else json.dumps(item, ensure_ascii=False))
                    self.close("argument")
            elif value is not None:
                self.open("json", type="object")
                self.text(raw)
                self.close("json")
        self.close("call")

    def assistant(self, message):
        self.named(message, role="assistant")
        if self.thinking:
            reasoning = message.get("reasoning_content") or message.get("reasoning") or ""
            self.open("think")
            self.text(reasoning if reasoning.strip() else "")
            self.close("think")
        self.open("response")
        self.content(message.get("content"))
        self.close("response")
        calls = message.get("tool_calls") or []
        if calls:
            self.open("tools")
            for i, call in enumerate(calls):
                self.call(call, i + 1)
            self.close("tools")
        self.eom()

    # The released encoder's rules, except where they would give a result the name of another call: see docs/chat.md.
    def pair(self, ident):
        for turn in reversed(self.turns):
            same = [c for c in turn if c.get("id") == ident]
            if same:
                one = next((c for c in same if id(c) not in self.answered), same[0])
                self.answered.add(id(one))
                return one
        return None

    def tools(self, run, calls, shown):
        found = [self.pair(m["tool_call_id"]) for m in run]
        places = [next((i for i, c in enumerate(calls) if c is f), None) for f in found]
        if None not in places:
            order = sorted(range(len(run)), key=lambda i: places[i])
            run, found = [run[i] for i in order], [found[i] for i in order]
            names = [f["function"]["name"] for f in found]
        else:
            names = []
            for i, message in enumerate(run):
                name = message.get("tool") or message.get("name")
                if not name and found[i] is not None:
                    name = found[i]["function"]["name"]
                if not name:
                    assert id(calls[shown + i]) not in self.answered, "a guess"
                    self.answered.add(id(calls[shown + i]))
                    name = calls[shown + i]["function"]["name"]
                names.append(name)
        for i, message in enumerate(run):
            self.open("message", role="tool", tool=names[i], index=shown + i + 1)
            self.content(message.get("content"))
            self.eom()

    def partial(self, message):
        self.named(message, role="assistant")
        reasoning, content = message.get("reasoning_content") or "", message.get("content") or ""
        if reasoning and self.thinking:
            self.open("think")
            self.text(reasoning)
            if not content:
                return
            self.close("think")
        self.open("response")
        self.content(content)

    def render(self, messages, tools):
        if tools:
            self.internal("tool-declare", STATIC % dump(tools))
        if self.thinking:
            self.internal("thinking-effort", EFFORT % self.effort)
        partial = messages[-1] if messages[-1].get("partial") else None
        messages = messages[:-1] if partial else messages
        calls, shown, i = [], 0, 0
        self.turns, self.answered = [], set()
        while i < len(messages):
            message = messages[i]
            if message["role"] == "tool":
                end = i
                while end < len(messages) and messages[end]["role"] == "tool":
                    end += 1
                self.tools(messages[i:end], calls, shown)
                shown += end - i
                i = end
                continue
            if message["role"] == "assistant":
                calls, shown = message.get("tool_calls") or [], 0
                self.turns.append(calls)
                self.assistant(message)
            else:
                if message.get("tools"):
                    self.internal("tool-declare", DYNAMIC % dump(message["tools"]))
                if message.get("content") or not message.get("tools"):
                    self.named(message, role="system" if message["role"] == "developer" else message["role"])
                    self.content(message.get("content"))
                    self.eom()
            i += 1
        if self.choice in CHOICE:
            self.internal("tool-choice", CHOICE[self.choice])
        kind = (self.format or {}).get("type")
        if kind == "json_object":
            self.internal("response-format", FORMAT % kind)
        if kind == "json_schema":
            self.internal("response-format", FORMAT % kind + "\nThe JSON data must match the following schema:\n```json\n"
                          + dump(self.format["json_schema"]["schema"]) + "\n```")
        if partial:
            self.partial(partial)
        elif self.generate:
            self.open("message", role="assistant")
            self.open("think" if self.thinking else "response")
        return self.out


# ---- cases

def tool(name, **extra):
    return {"type": "function", "function": {"name": name, "parameters": {
        "type": "object", "properties": {"z": {"type": "string", "default": None}, "a": {"type": "number", "minimum": 1e-7},
                                         "\u00e9": {"enum": ["<|open|>", 1.0, 10 ** 25, True]}}}, **extra}}


def call(ident, name, arguments):
    return {"id": ident, "type": "function", "function": {"name": name, "arguments": arguments}}


def user(content="hi", **extra):
    return {"role": "user", "content": content, **extra}


SPECIALS = ["<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>", "<|media_begin|>", "<|media_pad|>", "[BOS]", "[EOS]",
            "<|kimi_image_placeholder|>", "<|open|>think<|sep|>"]


def fixed_cases():
    yield "plain", [user()], None, {}
    yield "thinking off", [user()], None, {"thinking": False}
    for effort in ("low", "high", "max"):
        yield "effort " + effort, [user()], None, {"thinking_effort": effort}
    yield "specials everywhere", [
        {"role": "system", "content": "".join(SPECIALS), "name": "<|sep|>"}, user("".join(SPECIALS), name='<|open|>"&amp;'),
        {"role": "assistant", "content": "".join(SPECIALS), "reasoning_content": "".join(SPECIALS), "tool_calls": [
            call("<|sep|>", '<|close|>call"', json.dumps({s: s for s in SPECIALS}))]},
        {"role": "tool", "tool_call_id": "<|sep|>", "content": "".join(SPECIALS)}], [tool("f", description="<|open|>")], {}
    yield "developer with tools and content", [{"role": "developer", "content": "be brief", "tools": [tool("d")]}, user()], None, {}
    yield "dynamic tools first, middle and last", [
        {"role": "system", "content": "", "tools": [tool("a")]}, user(), {"role": "system", "tools": [tool("b")]}, user(),
        {"role": "system", "content": None, "tools": [tool("c", strict=True), tool("d", description=None)]}], [tool("e")], {}
    yield "empty assistant", [user(), {"role": "assistant", "content": ""}, user()], None, {}
    yield "null assistant", [user(), {"role": "assistant", "content": None, "reasoning_content": None}, user()], None, {}
    yield "blank reasoning", [user(), {"role": "assistant", "content": "a", "reasoning_content": " \u2003\n\x1c"}, user()], None, {}
    yield "reasoning alias", [user(), {"role": "assistant", "content": "a", "reasoning": "because"}, user()], None, {}
    yield "text parts are joined", [user([{"type": "text", "text": "foo"}, {"type": "text", "text": ""}, {"type": "text", "text": "bar"}])], None, {}
    yield "images", [user([{"type": "image", "width": w, "height": h} for w, h in ((56, 28), (1, 1), (13, 500), (224, 224))]),
                     user([{"type": "text", "text": "a"}, {"type": "image", "width": 60, "height": 29}, {"type": "text", "text": "b"}])], None, {}
    shapes = ["", "  ", "null", "{}", '{"a":1e2,"b":[1,2.5],"c":{"z":1,"a":null},"d":"x\\u00e9\\n","e":true,"f":-0.0}', '{"a":', "[1]",
              '"text"', "12", '{"k":1,"j":2,"k":3}', '{"":""}', '{"big":123456789012345678901234567890,"tiny":1e-7}', "{'a':1}"]
    yield "argument shapes", [user(), {"role": "assistant", "content": "", "tool_calls": [
        call(f"c{i}", "f", text) for i, text in enumerate(shapes)]}], None, {}
    two = {"role": "assistant", "content": "", "tool_calls": [call("c1", "f", "{}"), call("c2", "g", "{}")]}
    r = lambda ident, **extra: {"role": "tool", "tool_call_id": ident, "content": "r" + ident, **extra}
    yield "results sorted", [user(), two, r("c2"), r("c1")], None, {}
    yield "results with a stranger stay", [user(), two, r("c1"), r("zz")], None, {}
    yield "result of an older turn", [user(), two, r("c1"), {"role": "assistant", "tool_calls": [call("c3", "h", "")]}, r("c2"), r("c3")], None, {}
    yield "results with a named stranger", [user(), two, r("zz", name="n"), r("c1", tool="t")], None, {}
    yield "partial result set", [user(), two, r("c2")], None, {}
    yield "results in two runs", [user(), two, r("c2"), user(), r("c1"), r("c2")], None, {}
    yield "repeated ids", [user(), {"role": "assistant", "tool_calls": [call("c", "f", ""), call("c", "g", "")]}, r("c"), r("c")], None, {}
    yield "same ids in two turns", [user(), two, r("c1"), r("c2"), two, r("c2"), r("c1")], None, {}
    yield "thinking off drops reasoning", [user(), {"role": "assistant", "content": "a", "reasoning_content": "b"}], None, {"thinking": False}
    yield "no generation prompt", [user()], None, {"add_generation_prompt": False}
    for choice in ("auto", "none", "required"):
        yield "tool_choice " + choice, [user()], [tool("f")], {"tool_choice": choice}
    schema = {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": {"b": [1.0, 1e16, 1e-5], "a": {"\u4f60": "\x7f\x01"}}}}
    yield "json schema with required tools", [user()], [tool("f")], {"response_format": schema, "tool_choice": "required"}
    yield "json object", [user()], None, {"response_format": {"type": "json_object"}}
    yield "text format", [user()], None, {"response_format": {"type": "text"}}
    for name, extra in (("content", {"content": "Sure,"}), ("reasoning", {"reasoning_content": "First"}),
                        ("both", {"content": "Sure,", "reasoning_content": "First"}),
                        ("empty reasoning", {"content": "Sure,", "reasoning_content": ""})):
        for thinking in (True, False):
            yield f"partial {name} {thinking}", [user(), {"role": "assistant", "partial": True, **extra}], None, {"thinking": thinking}
    yield "partial after controls", [user(), {"role": "assistant", "partial": True, "content": "x", "name": "n"}], [tool("f")], {"tool_choice": "required"}


def random_text(rng):
    return "".join(rng.choice(SPECIALS + ["a", " ", "word ", "\n", "&", '"', "\u4f60\u597d", "\U0001F680", "<", "|", "1", "\x01"])
                   for _ in range(rng.randrange(6)))


def random_value(rng, depth=0):
    kind = rng.randrange(8 if depth < 3 else 6)
    if kind == 6:
        return [random_value(rng, depth + 1) for _ in range(rng.randrange(3))]
    if kind == 7:
        return {random_text(rng): random_value(rng, depth + 1) for _ in range(rng.randrange(3))}
    return [None, rng.random() < 0.5, rng.randrange(-10 ** rng.randrange(1, 30), 10 ** 9),
            rng.choice([-1, 1]) * rng.random() * 10.0 ** rng.randrange(-320, 300), random_text(rng), rng.random()][kind]


def random_conversation(rng):
    messages = [user(random_text(rng))]
    calls = []
    for _ in range(rng.randrange(6)):
        role = rng.choice(["user", "system", "assistant", "assistant", "tool", "tool"])
        if role == "tool" and calls:
            ids = [c["id"] for c in calls]
            rng.shuffle(ids)
            if rng.random() < 0.2:
                ids[0] = "unknown"
            messages += [{"role": "tool", "tool_call_id": i, "content": random_text(rng), "name": "fallback"} for i in ids]
        elif role == "assistant":
            calls = [call(f"c{rng.randrange(4)}", rng.choice(["f", 'g"', "h&"]), rng.choice([
                json.dumps({random_text(rng): random_value(rng) for _ in range(rng.randrange(4))}, ensure_ascii=rng.random() < 0.5),
                random_text(rng), ""])) for _ in range(rng.randrange(4))]
            messages.append({"role": "assistant", "content": random_text(rng), "reasoning_content": random_text(rng), "tool_calls": calls})
        elif role != "tool":
            messages.append({"role": role, "content": random_text(rng), "name": random_text(rng)})
    tools = [tool(f"t{i}", extra=random_value(rng)) for i in range(rng.randrange(3))] or None
    kwargs = {"thinking": rng.random() < 0.7, "thinking_effort": rng.choice(["low", "high", "max"]),
              "tool_choice": rng.choice(["auto", "none"]), "add_generation_prompt": rng.random() < 0.8}
    return messages, tools, kwargs


def render_lines():
    rng = random.Random(20260729)
    cases = list(fixed_cases()) + [(f"random {i}", *random_conversation(rng)) for i in range(60)]
    for name, messages, tools, kwargs in cases:
        segments = Renderer(**kwargs).render(messages, tools)
        yield {"name": name, "messages": messages, "tools": tools, "kwargs": kwargs, "segments": segments}


def json_lines():
    rng = random.Random(7)
    texts = ["0", "-0", "-0.0", "0e9", "1E5", "1e-5", "0.0001", "0.00001", "123456789012345.0", "1234567890123456.0", "9999999999999998.0",
             "1e15", "1e16", "1e17", "1.5e16", "1e22", "1e23", "5e-324", "2e-324", "3e-324", "1.7976931348623157e308", "1e400", "-1e400", "1e-400",
             "0." + "0" * 400 + "1", "1" + "0" * 400 + ".0", "1" + "0" * 400 + "e-400", "0." + "0" * 330 + "7e330", "1e99999999999999999999",
             "1e-99999999999999999999", "123456789012345678901234567890", "-9007199254740993", "0.1", "1.10", "100.0", "2.50e-7",
             '"\\u0000\\u001f\\u007f\\u0080\\u2028\\ud83d\\ude00\\/\\"\\\\\\b\\f\\n\\r\\t"', '"\u4f60\U0001F680"', "true", "false", "null", "[]", "{}", "[[],{}]",
             '{"b":1,"a":2,"b":3}', '{"\\u00e9":1,"e":2,"\\ud83d\\ude00":3,"\\uffff":4}', ' [ 1 , { "a" : [ ] } ] ', '{"a":{"b":1,"a":2},"a":{"d":1,"c":[{"z":0,"y":0}]}}']
    for _ in range(200):
        texts.append(repr(rng.choice([-1, 1]) * rng.random() * 10.0 ** rng.randrange(-30, 30)))
        texts.append(json.dumps(random_value(rng), ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 1])))
    for text in texts:
        value = json.loads(text)
        yield {"text": text, "sorted": dump(value), "spaced": json.dumps(value, ensure_ascii=False)}


def image_lines():
    rng = random.Random(11)
    sizes = [(1, 1), (13, 14), (28, 29), (7168, 7168), (65536, 1), (1, 65536), (65536, 65536), (3584, 3584), (3585, 3585)]
    sizes += [tuple(rng.randrange(1, 2 ** rng.randrange(3, 17)) for _ in "wh") for _ in range(500)]
    for w, h in sizes:
        yield {"width": w, "height": h, "tokens": image_tokens(w, h)}


def main():
    for name, lines in (("render.jsonl", render_lines()), ("python_json.jsonl", json_lines()),
                        ("image_tokens.jsonl", image_lines())):
        data = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        path = OUT / name
        if "--check" in sys.argv:
            if path.read_text() != data:
                sys.exit(f"{path.name} differs from what this script makes")
        else:
            path.write_text(data)
        print(f"golden/chat/{name}: {data.count(chr(10))} lines")


if __name__ == "__main__":
    main()
