# SPDX-License-Identifier: Apache-2.0
"""Skills 5 and 6: stating the thinking effort; one-digit arithmetic, copying, sorting, counting.

The generators take the thinking effort of the conversation, if it is given already.
"""

from . import data_words as words
from . import data_phrases
from .data_chat import small_talk, system_prompt, vary
from .data_sample import Sample, assistant, effort_of, thoughts, user

_EFFORT_QUESTIONS = (
    "What is your thinking effort?", "How much are you thinking?", "Which thinking effort do you use?", "What effort are you set to?",
    "What is your effort level?", "At which effort do you think?", "State your thinking effort.", "Which effort is set?",
    "Is thinking on?", "Are you thinking?", "Tell me your thinking effort.", "Do you think before you answer?",
)  # fmt: skip


def state_effort(dice, *effort):
    effort = effort[0] if effort else effort_of(dice)
    answer = "Thinking is off." if effort is None else f"My thinking effort is {effort}."
    think = thoughts(dice, effort, f"The effort is {effort}.", "The system message says so.", "I state it.")
    messages = [*system_prompt(dice), user(vary(dice, dice.part(_EFFORT_QUESTIONS))), assistant(answer, think)]
    return Sample("effort", messages, {"any": [answer]}, effort)


_SUM_FORMS = (
    ("What is {a} {op} {b}?", "{a} {op} {b}", "{a} {op} {b} = ?", "How much is {a} {op} {b}?", "Compute {a} {op} {b}.", "{a}{op}{b}=", "Calculate {a} {op} {b}", "Tell me {a} {op} {b}."),
    {"+": ("{a} plus {b}?", "Add {a} and {b}.", "What is {a} plus {b}?", "What is the sum of {a} and {b}?"),
     "-": ("{a} minus {b}?", "Subtract {b} from {a}.", "What is {a} minus {b}?", "Take {b} away from {a}."),
     "*": ("{a} times {b}?", "Multiply {a} by {b}.", "What is {a} times {b}?", "What is the product of {a} and {b}?")},
)  # fmt: skip
_STEPS = {"+": "plus", "-": "minus", "*": "times"}


def arithmetic(dice, *effort):
    effort = effort[0] if effort else effort_of(dice)
    while True:
        a, b, op = dice.between(0, 9), dice.between(0, 9), dice.pick("+-*")
        if dice.mine(("sum", a, b, op)):
            break
    result = {"+": a + b, "-": a - b, "*": a * b}[op]
    form = dice.part(_SUM_FORMS[0] if dice.chance(0.6) else _SUM_FORMS[1][op])
    answer = f"{a} {op} {b} = {result}"
    think = thoughts(
        dice, effort, f"{a} {_STEPS[op]} {b} is {result}.", "It is a small sum.", f"So the result is {result}."
    )
    messages = [*system_prompt(dice), user(vary(dice, form.format(a=a, b=b, op=op))), assistant(answer, think)]
    return Sample("arithmetic", messages, {"any": [answer]}, effort)


def _items(dice, count):
    kind = dice.below(4)
    if kind == 0:
        return [str(n) for n in dice.some(range(0, 100), count)]
    if kind == 1:
        return [dice.word() for _ in range(count)]
    if kind == 2:
        return dice.parts(words.THINGS + words.ANIMALS + words.FOODS, count)
    return dice.some("abcdefghijklmnopqrstuvwxyz", count)


_LIST_TASKS = {
    "copy": (("Repeat: {x}", "Copy this: {x}", "Say exactly: {x}", "Repeat after me: {x}", "Write this again: {x}", "Echo {x}", "Type {x}", "Say: {x}"), lambda v: v),
    "sort": (("Sort: {x}", "Sort these: {x}", "Put in order: {x}", "Sort {x}", "Order these: {x}", "Please sort this list: {x}", "Arrange {x}", "Sort the following: {x}"),
             lambda v: sorted(v, key=lambda s: (int(s), s) if s.isdigit() else (0, s))),
    "reverse": (("Reverse: {x}", "Turn around: {x}", "Write backwards: {x}", "Reverse the list {x}", "In reverse order: {x}", "Reverse these: {x}", "List from last to first: {x}", "Reverse the order of {x}"), lambda v: v[::-1]),
    "first": (("First of {x}?", "What is the first of {x}?", "Name the first: {x}", "Which is the first of {x}?", "First item: {x}", "Give me the first of {x}", "The first one of {x}?", "What comes first: {x}?"), lambda v: v[:1]),
    "last": (("Last of {x}?", "What is the last of {x}?", "Name the last: {x}", "Which is the last of {x}?", "Last item: {x}", "Give me the last of {x}", "The last one of {x}?", "What comes last: {x}?"), lambda v: v[-1:]),
    "count": (("Count: {x}", "How many are there: {x}?", "Count these: {x}", "How many items: {x}?", "How many words: {x}", "Number of items in {x}?", "Count the items {x}", "How many things are listed: {x}?"), lambda v: [str(len(v))]),
}  # fmt: skip


def list_task(dice, *effort):
    effort = effort[0] if effort else effort_of(dice)
    kind = dice.weighted({"copy": 30, "sort": 30, "reverse": 12, "first": 8, "last": 8, "count": 12})
    requests, solve = _LIST_TASKS[kind]
    values = _items(dice, dice.between(2, 7))
    join = dice.pick((", ", " ", ", "))
    answer = join.join(solve(values))
    think = thoughts(
        dice,
        effort,
        f"The task is to {kind if kind in ('copy', 'sort', 'reverse', 'count') else 'find the ' + kind}.",
        f"There are {len(values)} items.",
        f"The answer is {answer}.",
    )
    messages = [
        *system_prompt(dice, 0.15),
        user(dice.part(requests).format(x=join.join(values))),
        assistant(answer, think),
    ]
    return Sample("lists", messages, {"any": [answer]}, effort)


def copy_text(dice, *effort):
    """Copying of text without structure: made-up words, codes, numbers, marks."""
    effort = effort[0] if effort else effort_of(dice)
    pieces = [
        dice.pick((dice.word, dice.code, lambda: str(dice.number(0, 99999)), lambda: dice.part(words.THINGS)))()
        for _ in range(dice.between(1, 8))
    ]
    text = dice.pick((" ", " ", "-", "/", ", ")).join(pieces)
    think = thoughts(dice, effort, "I copy the text.", "Every character counts.", f"It reads {text}.")
    messages = [user(dice.part(_LIST_TASKS["copy"][0]).format(x=text)), assistant(text, think)]
    return Sample("lists", messages, {"any": [text]}, effort)


def several(dice):
    """Two to five small tasks and remarks in one conversation."""
    effort, messages, sample = effort_of(dice), [], None
    makers = {list_task: 35, copy_text: 20, arithmetic: 20, state_effort: 10, data_phrases.phrase: 5, None: 10}
    for _ in range(dice.between(2, 5)):
        make = dice.weighted(makers)
        if make is None:
            question, think, answer, expect = small_talk(dice, effort)
            sample = Sample("chat", [user(question), assistant(answer, think)], expect, effort)
        else:
            sample = make(dice, effort)
        messages += [m for m in sample.messages if m["role"] != "system"]
    sample.messages = messages
    return sample
