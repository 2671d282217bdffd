# SPDX-License-Identifier: Apache-2.0
"""Skill 2: choosing among declared tools, calling one, several or none with typed arguments, and using results."""

import dataclasses
import json

from . import data_words as words
from .data_catalogue import CATALOGUE, slot
from .data_chat import scraps, small_talk, system_prompt
from .data_fields import Field, fields, nested, object_schema, ordered, spoken_list
from .data_sample import Sample, assistant, effort_of, thoughts, user

_NO_TOOL = ("None of my tools can do that.", "I have no tool for that.")


@dataclasses.dataclass
class Task:
    """One thing to do with one tool: the declaration, what the user says, and the arguments that follow from it."""

    tool: dict
    request: str
    arguments: list  # of Field, those that were said
    subject: str  # "open the door"
    result: dict = None
    reply: str = None

    @property
    def name(self):
        return self.tool["function"]["name"]


def _declaration(dice, name, description, members, optional):
    function = {"name": name, "description": description}
    if members or dice.chance(0.5):
        function["parameters"] = object_schema(dice, members, optional)
    if dice.chance(0.15):
        function["strict"] = True
    return {"type": "function", "function": function}


def _styled(dice, verb, noun):
    forms = (f"{verb}_{noun}", f"{verb}{noun.capitalize()}", f"{verb}-{noun}", f"{noun}_{verb}", f"{verb}_{noun}")
    return dice.pick(forms)


_REQUESTS = (
    "{verb} the {noun}, {args}.", "Please {verb} the {noun}: {args}.", "Can you {verb} the {noun} with {args}?", "{Verb} the {noun} with {args}",
    "I want to {verb} a {noun}: {args}.", "{Verb} a {noun}. {Args}.", "Could you please {verb} the {noun}? {Args}.", "I need you to {verb} the {noun} ({args}).",
    "With {args}, {verb} the {noun}.", "{Verb} {noun} {args}", "For the {noun}: {args}. Please {verb} it.", "Go and {verb} the {noun}; {args}.",
    "Call {name} with {args}.", "Use {name}: {args}", "{name} with {args}, please.", "Run {name} ({args}).",
)  # fmt: skip
_BARE = (
    "{Verb} the {noun}.", "Please {verb} the {noun}.", "Can you {verb} the {noun}?", "{Verb} the {noun}, please.", "I want to {verb} the {noun}.",
    "Could you {verb} the {noun}?", "Call {name}.", "Now {verb} the {noun}!", "Use {name}.", "Just {verb} the {noun}.", "Run {name} now.", "I need to {verb} the {noun}.",
)  # fmt: skip


def _request(dice, templates, verb, noun, name, args):
    """A template filled in, its first letter a capital unless it begins with the tool's name."""
    template = dice.part(templates)
    text = template.format(
        verb=verb, Verb=verb.capitalize(), noun=noun, name=name, args=args, Args=args[:1].upper() + args[1:]
    )
    return text if template.startswith("{name}") else text[:1].upper() + text[1:]


def invented_task(dice):
    """A tool of random name and parameters."""
    verb, noun = dice.part(words.VERBS), dice.part(words.NOUNS)
    if dice.chance(0.15):
        noun = dice.word()
    name = _styled(dice, verb, noun) if dice.chance(0.9) else dice.word()
    description = dice.pick(
        (f"{verb.capitalize()} a {noun}", f"{verb.capitalize()} the {noun}.", f"Use this to {verb} a {noun}")
    )
    members = fields(dice, dice.pick((0, 1, 1, 2, 2, 2, 3, 3, 4)))
    if dice.chance(0.1):
        members.append(nested(dice))
    optional = {f.name for f in members if dice.chance(0.3)}
    said = [f for f in members if f.name not in optional or dice.chance(0.5)]
    spoken = dice.shuffled(said)
    args = spoken_list(dice, spoken) if spoken else ""
    text = _request(dice, _REQUESTS if spoken else _BARE, verb, noun, name, args)
    tool = _declaration(dice, name, description, members, optional)
    return Task(tool, text, said, f"{verb} the {noun}")


def _shown(dice, value):
    if isinstance(value, list):
        return ", ".join(value)
    return dice.pick((("on", "true"), ("off", "false"))[not value]) if isinstance(value, bool) else value


def listed_task(dice):
    """A tool as people write them, with requests in natural language."""
    entry = dice.pick(CATALOGUE)
    values = {key: slot(dice, kind) for key, kind in entry.slots.items()}
    members = [Field(k, dict(entry.schemas[k]), values[k], str(values[k])) for k in entry.schemas]
    template = dice.part(entry.requests)
    said = [f for f in members if "{" + f.name + "}" in template]
    if any(f.name not in entry.optional and f not in said for f in members):
        raise AssertionError(f"{entry.name}: a request does not say every required argument: {template}")
    shown = {f.name: _shown(dice, f.value) for f in members}
    tool = _declaration(dice, dice.part(entry.names), entry.description, members, entry.optional)
    task = Task(tool, template.format(**shown), said, entry.subject)
    if entry.result:
        answer = {key: slot(dice, kind) for key, kind in entry.result.items()}
        task.result, task.reply = answer, entry.reply.format(**shown, **answer)
    return task


def _task(dice):
    return listed_task(dice) if dice.chance(0.35) else invented_task(dice)


def _tasks(dice, count):
    """Tasks of tools with different names."""
    made = {}
    while len(made) < count:
        task = _task(dice)
        made.setdefault(task.name, task)
    return list(made.values())


def call(dice, task, number):
    """The call as a client's history has it; number makes the id."""
    arguments = {f.name: f.value for f in ordered(dice, task.arguments)}
    function = {"name": task.name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {"id": f"call_{number}", "type": "function", "function": function}


def _said(task):
    return ", ".join(f"{f.name} {f.spoken}" for f in task.arguments)


def _call_thoughts(dice, effort, tasks):
    names = " and ".join(t.name for t in tasks)
    first = f"I call {names}."
    second = f"The user wants to {tasks[0].subject}." if len(tasks) == 1 else f"There are {len(tasks)} things to do."
    given = [t for t in tasks if t.arguments]
    third = "Given: " + "; ".join(_said(t) for t in given) + "." if given else "No arguments are needed."
    return thoughts(dice, effort, first, second, third)


def _expect(tasks):
    return {"calls": [{"name": t.name, "arguments": {f.name: f.value for f in t.arguments}} for t in tasks]}


def _with_distractors(dice, tasks):
    """The tools of the tasks among others, in random order."""
    names, tools = {t.name for t in tasks}, [t.tool for t in tasks]
    for _ in range(dice.pick((0, 1, 1, 2, 2, 3))):
        other = _task(dice)
        if dice.chance(0.3):  # one that is easily confused
            verb, noun = tasks[0].subject.split(" the ")[0].split()[0], dice.part(words.NOUNS)
            other.tool["function"].update(name=f"{verb}_{noun}", description=f"{verb.capitalize()} a {noun}")
        if other.name not in names:
            names.add(other.name)
            tools.append(other.tool)
    return dice.shuffled(tools)


def calls(dice):
    """One call, or several in one message."""
    effort, tasks = effort_of(dice), _tasks(dice, dice.weighted({1: 78, 2: 18, 3: 4}))
    join = dice.pick((" Then: ", " Also: ", "\n", " And: "))
    text = join.join(t.request for t in tasks)
    if len(tasks) == 1:
        text = dice.part(("", "", "", "", "Hi! ", "Please help: ", "Hello, ", "Good morning. ")) + text
    messages = system_prompt(dice, 0.25)
    if dice.chance(0.12):
        question, think, answer, _ = small_talk(dice, effort, tools=True)
        messages += [user(question), assistant(answer, think)]
    messages += [
        user(text),
        assistant("", _call_thoughts(dice, effort, tasks), [call(dice, t, i) for i, t in enumerate(tasks)]),
    ]
    choice = "required" if dice.chance(0.1) else "auto"
    return Sample("tools", messages, _expect(tasks), effort, _with_distractors(dice, tasks), choice)


def no_call(dice):
    """Tools are there but nothing, or nothing that they can do, is asked of them; or calls are forbidden."""
    effort, tasks = effort_of(dice), _tasks(dice, dice.between(1, 3))
    tools = [t.tool for t in tasks]
    if dice.chance(0.55):
        question, think, answer, expect = small_talk(dice, effort, tools=True)
        messages = [*system_prompt(dice), user(question), assistant(answer, think)]
        return Sample(
            "tools", messages, {**expect, "calls": []}, effort, tools, dice.weighted({"auto": 85, "none": 15})
        )
    if dice.chance(0.25):
        answer = "I must not call tools now."
        think = thoughts(
            dice, effort, "Calls are forbidden here.", "The user wants a tool to be used.", "I may only say so."
        )
        messages = [user(tasks[0].request), assistant(answer, think)]
        return Sample("tools", messages, {"any": [answer], "calls": []}, effort, tools, "none")
    other = _task(dice)
    while other.subject in {t.subject for t in tasks} or other.name in {t.name for t in tasks}:
        other = _task(dice)
    think = thoughts(
        dice, effort, "No tool fits.", f"The user wants to {other.subject}.", "The tools are for something else."
    )
    request = scraps(dice) if dice.chance(0.05) else other.request
    messages = [*system_prompt(dice), user(request), assistant(dice.pick(_NO_TOOL), think)]
    return Sample("tools", messages, {"any": list(_NO_TOOL), "calls": []}, effort, tools)


def _outcome(dice, task):
    """(content of the tool message, what the model says about it)."""
    if task.reply is not None:
        return json.dumps(task.result, ensure_ascii=False), task.reply
    kind = dice.below(4)
    if kind == 0:
        reason = dice.part(
            (
                "not found",
                "permission denied",
                "timeout",
                "invalid id",
                "quota exceeded",
                "no connection",
                "out of stock",
                "busy",
            )
        )
        content = dice.pick(
            (json.dumps({"error": reason}), f"error: {reason}", json.dumps({"ok": False, "error": reason}))
        )
        return content, f"That did not work: {reason}."
    if kind == 1:
        return dice.part(
            ("ok", "done", "success", "true", "OK", "Done.", '{"ok": true}', '{"status": "ok"}')
        ), f"Done: {task.subject}."
    shown = [f for f in fields(dice, dice.between(1, 3)) if not isinstance(f.value, (list, bool))] or [
        Field("id", {}, dice.code(), "")
    ]
    content = json.dumps({f.name: f.value for f in shown}, ensure_ascii=False)
    return content, "The result: " + ", ".join(f"{f.name} {f.value}" for f in shown) + "."


def results(dice):
    """A call, its result, and the answer made of it; sometimes another turn before."""
    effort, tasks = effort_of(dice), _tasks(dice, dice.weighted({1: 80, 2: 20}))
    made = [call(dice, t, i) for i, t in enumerate(tasks)]
    messages = [
        *system_prompt(dice),
        user(" Also: ".join(t.request for t in tasks)),
        assistant("", _call_thoughts(dice, effort, tasks), made),
    ]
    said = []
    for task, one in zip(tasks, made):
        content, answer = _outcome(dice, task)
        said.append(answer)
        messages.append({"role": "tool", "tool_call_id": one["id"], "content": content})
    think = thoughts(
        dice,
        effort,
        "The result is there.",
        "I tell the user what it says.",
        f"I called {' and '.join(t.name for t in tasks)}.",
    )
    messages.append(assistant(" ".join(said), think))
    sample = Sample("results", messages, {"any": [" ".join(said)], "calls": []}, effort, _with_distractors(dice, tasks))
    if dice.chance(0.3):
        follow_up(dice, sample, effort)
    return sample


def follow_up(dice, sample, effort):
    """A further request for one of the tools, or a word of thanks, after the answer."""
    if dice.chance(0.4):
        question, think, answer, expect = small_talk(dice, effort, tools=True)
        sample.messages += [user(question), assistant(answer, think)]
        sample.expect = {**expect, "calls": []}
        return
    task = _task(dice)
    if task.name in {t["function"]["name"] for t in sample.tools}:
        return
    sample.tools.append(task.tool)
    sample.messages += [user(task.request), assistant("", _call_thoughts(dice, effort, [task]), [call(dice, task, 7)])]
    sample.expect, sample.skill = _expect([task]), "tools"


def session(dice):
    """Several turns with the same tools: calls with results, requests no tool can do, and talk between them."""
    effort, tasks = effort_of(dice), _tasks(dice, dice.between(3, 6))
    declared = tasks[: dice.between(2, len(tasks))]
    tools = dice.shuffled([t.tool for t in declared])
    messages, waiting, expect, skill = system_prompt(dice), dice.shuffled(tasks), None, "tools"
    for number in range(dice.between(2, 5)):
        if not waiting or dice.chance(0.2):
            question, think, answer, expect = small_talk(dice, effort, tools=True)
            messages += [user(question), assistant(answer, think)]
            skill = "chat"
            continue
        task = waiting.pop()
        if task not in declared:
            think = thoughts(
                dice, effort, "No tool fits.", f"The user wants to {task.subject}.", "The tools are for something else."
            )
            messages += [user(task.request), assistant(dice.pick(_NO_TOOL), think)]
            expect, skill = {"any": list(_NO_TOOL)}, "tools"
            continue
        one = call(dice, task, number)
        messages += [user(task.request), assistant("", _call_thoughts(dice, effort, [task]), [one])]
        expect, skill = _expect([task]), "tools"
        if number < 4 and dice.chance(0.75):
            content, answer = _outcome(dice, task)
            think = thoughts(
                dice, effort, "The result is there.", "I tell the user what it says.", f"I called {task.name}."
            )
            messages += [{"role": "tool", "tool_call_id": one["id"], "content": content}, assistant(answer, think)]
            expect, skill = {"any": [answer]}, "results"
        else:
            break
    return Sample(skill, messages, {"calls": [], **expect}, effort, tools)


def missing_argument(dice):
    """A required argument was not said: the model asks for it."""
    effort, task = effort_of(dice), invented_task(dice)
    while not any(f.name in task.tool["function"].get("parameters", {}).get("required", ()) for f in task.arguments):
        task = invented_task(dice)
    required = set(task.tool["function"]["parameters"]["required"])
    lost = dice.pick([f for f in task.arguments if f.name in required])
    rest = [f for f in task.arguments if f is not lost]
    verb, noun = task.subject.split(" the ", 1)
    args = spoken_list(dice, rest) if rest else ""
    text = _request(dice, _REQUESTS[:12] if rest else _BARE, verb, noun, task.name, args)
    question = f"What should {lost.name} be?"
    think = thoughts(dice, effort, f"{lost.name} is missing.", f"{task.name} needs it.", "I ask the user.")
    messages = [user(text), assistant(question, think)]
    sample = Sample("tools", messages, {"any": [question], "calls": []}, effort, _with_distractors(dice, [task]))
    if dice.chance(0.6):
        reply = dice.part(
            ("{v}", "{v}.", "It should be {v}.", "{n} is {v}", "{v}, please", "Use {v}.", "Let us say {v}", "Take {v}.")
        ).format(v=lost.spoken, n=lost.name)
        messages += [user(reply), assistant("", _call_thoughts(dice, effort, [task]), [call(dice, task, 0)])]
        sample.expect = _expect([task])
    return sample
