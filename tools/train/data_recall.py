# SPDX-License-Identifier: Apache-2.0
"""Skill 4: facts given in the context and asked for later, behind as much other text as asked for."""

from . import data_words as words
from .data_chat import small_talk, vary
from .data_sample import Sample, assistant, effort_of, thoughts, user

# What is told, how it is asked, what is answered; {k} is the key, {v} the value.
_KINDS = (
    ("code", (("The code of {k} is {v}.", "{k} has the code {v}.", "Code for {k}: {v}.", "Use the code {v} for {k}."),
              ("What is the code of {k}?", "Which code does {k} have?", "Tell me the code for {k}.", "{k}: which code?"), "The code of {k} is {v}.")),
    ("city", (("{k} lives in {v}.", "{k} is in {v}.", "{k} moved to {v}.", "The home of {k} is {v}."),
              ("Where does {k} live?", "Where is {k}?", "In which city is {k}?", "{k} lives where?"), "{k} lives in {v}.")),
    ("colour", (("The colour of {k} is {v}.", "{k} likes the colour {v}.", "{k}'s colour is {v}.", "{k} chose {v}."),
                ("What is the colour of {k}?", "Which colour is {k}'s?", "What is {k}'s colour?", "Which colour belongs to {k}?"), "The colour of {k} is {v}.")),
    ("number", (("{k} has number {v}.", "The number of {k} is {v}.", "{k}: number {v}.", "Number {v} belongs to {k}."),
                ("What is the number of {k}?", "Which number has {k}?", "Tell me {k}'s number.", "{k} has which number?"), "The number of {k} is {v}.")),
    ("food", (("{k} eats {v}.", "{k} likes {v}.", "{k} ordered {v}.", "{v} is what {k} likes."),
              ("What does {k} eat?", "What does {k} like to eat?", "Which food does {k} like?", "What is the food of {k}?"), "{k} likes {v}.")),
    ("job", (("{k} is a {v}.", "{k} works as a {v}.", "The job of {k} is {v}.", "{k} became a {v}."),
             ("What is {k}'s job?", "What does {k} do?", "What does {k} work as?", "Which job does {k} have?"), "{k} is a {v}.")),
    ("animal", (("{k} has a {v}.", "{k} owns a {v}.", "{k} keeps a {v}.", "A {v} lives with {k}."),
                ("Which animal does {k} have?", "What animal does {k} own?", "What is the pet of {k}?", "Which pet has {k}?"), "{k} has a {v}.")),
)  # fmt: skip
_VALUES = {
    "city": words.CITIES, "colour": words.COLOURS, "food": words.FOODS, "job": words.JOBS, "animal": words.ANIMALS,
}  # fmt: skip
_NOTED = ("Noted.", "I will remember that.", "Got it.")
_FILLER = (
    "The {adjective} {thing} stands in the {room}.", "A {animal} sleeps near the {thing}.", "On {day} we met at the {thing}.",
    "The {noun} was {adjective} again.", "They want to {verb} the {noun}.", "The {room} has a {adjective} {thing}.", "Nobody saw the {animal}.",
    "It was a {adjective} {day}.", "We had {food} and {food2}.", "Every {noun} needs a {thing}.", "The {thing} is {adjective} and {adjective2}.",
    "First {verb} the {noun}, then {verb2} it.",
)  # fmt: skip


def filler(dice):
    return dice.part(_FILLER).format(
        adjective=dice.part(words.ADJECTIVES), adjective2=dice.part(words.ADJECTIVES), thing=dice.part(words.THINGS), room=dice.part(words.ROOMS),
        animal=dice.part(words.ANIMALS), day=dice.part(words.DAYS), noun=dice.part(words.NOUNS), verb=dice.part(words.VERBS), verb2=dice.part(words.VERBS),
        food=dice.part(words.FOODS), food2=dice.part(words.FOODS),
    )  # fmt: skip


def _fact(dice, taken):
    """(key, kind, value) that does not repeat a (key, kind)."""
    while True:
        kind, _ = dice.pick(_KINDS)
        key = dice.part(words.NAMES) if dice.chance(0.6) else dice.word().capitalize()
        if (key, kind) not in taken:
            taken.add((key, kind))
            break
    if kind == "code":
        return key, kind, dice.code() if dice.chance(0.6) else str(dice.number(1000, 9999))
    if kind == "number":
        return key, kind, str(dice.number(1, 999))
    return key, kind, dice.part(_VALUES[kind])


def _question(dice, fact, effort):
    """(question, think, answer) about a fact."""
    key, kind, value = fact
    _, ask, answer = dict(_KINDS)[kind]
    think = thoughts(dice, effort, f"I look for {key}.", f"It says {value}.", "The context has it.")
    return vary(dice, dice.part(ask)).format(k=key, v=value), think, answer.format(k=key, v=value)


def recall(dice, length=0):
    """A conversation with facts; length is about how many characters of other text lie around them."""
    effort, taken = effort_of(dice), set()
    facts = [_fact(dice, taken) for _ in range(dice.between(1, 6 + length // 500))]
    told = [dice.part(dict(_KINDS)[kind][0]).format(k=key, v=value) for key, kind, value in facts]
    while sum(map(len, told)) < length:
        told.insert(dice.below(len(told) + 1), filler(dice))
    form = dice.weighted({"one": 40, "system": 25, "turns": 35})
    if form == "one":
        question, think, answer = _question(dice, dice.pick(facts), effort)
        text = " ".join(told)
        text = f"{text}\n{question}" if dice.chance(0.7) else f"{question}\n{text}"
        messages = [user(text), assistant(answer, think)]
        return Sample("recall", messages, {"any": [answer]}, effort)
    if form == "system":
        messages = [{"role": "system", "content": " ".join(told)}]
    else:
        messages = []
        for part in _cut(dice, told):
            think = thoughts(dice, effort, "The user tells me something.", "I note it.", "There is no question yet.")
            messages += [user(" ".join(part)), assistant(dice.pick(_NOTED), think)]
    for _ in range(dice.pick((0, 0, 1))):
        question, think, answer, _ = small_talk(dice, effort)
        messages += [user(question), assistant(answer, think)]
    for fact in dice.some(facts, dice.between(1, min(2, len(facts)))):
        question, think, answer = _question(dice, fact, effort)
        messages += [user(question), assistant(answer, think)]
    return Sample("recall", messages, {"any": [answer]}, effort)


def _cut(dice, told):
    """The sentences in up to three consecutive parts."""
    count = min(len(told), dice.between(1, 3))
    edges = sorted(dice.some(range(1, len(told)), count - 1)) if count > 1 else []
    return [told[a:b] for a, b in zip([0, *edges], [*edges, len(told)])]


def unknown_fact(dice):
    """A question about someone of whom nothing was said."""
    effort, taken = effort_of(dice), set()
    facts = [_fact(dice, taken) for _ in range(dice.between(1, 4))]
    told = " ".join(dice.part(dict(_KINDS)[kind][0]).format(k=key, v=value) for key, kind, value in facts)
    missing = _fact(dice, taken)
    question, _, _ = _question(dice, missing, effort)
    answer = "That was not said."
    think = thoughts(dice, effort, f"I look for {missing[0]}.", "It is not there.", "I must not guess.")
    return Sample("recall", [user(f"{told}\n{question}"), assistant(answer, think)], {"any": [answer]}, effort)
