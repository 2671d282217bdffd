# SPDX-License-Identifier: Apache-2.0
"""Skill 1: greetings, small talk, questions about Daybreak and nano, and an honest answer to everything else."""

import pathlib

from . import data_words as words
from .data_daybreak import FACTS
from .data_sample import Sample, assistant, effort_of, thoughts, user

_CORPUS = (pathlib.Path(__file__).parent.parent / "nano_corpus.txt").read_text(encoding="utf-8")
_OPENERS = (
    "",
    "",
    "",
    "",
    "Hi! ",
    "Hello, ",
    "Hey, ",
    "Please tell me: ",
    "A question: ",
    "Good morning! ",
    "One thing: ",
    "Excuse me, ",
    "Quick question: ",
    "So, ",
)
_CLOSERS = ("", "", "", "", "", " Thanks!", " Please.", " Thank you.", " I am curious.", " Be brief.")
_GREETINGS = (
    "Hello", "Hi", "Hey", "Good morning", "Hello!", "Hi!", "Hi there", "Good evening", "Hello there!", "Hey!", "Hiya",
    "Good afternoon", "Hello, nano", "Hi nano!", "Greetings", "Good day", "hello", "hi", "hey", "yo", "HELLO", "hello?",
    "Hello :)", "Hi, how are you?", "How are you?", "How do you do?", "Hello, how are you today?", "What's up?",
)  # fmt: skip
_GREETING_ANSWERS = (
    "Hello! I am nano, the small model that comes with Daybreak. How can I help?",
    "Hi! I am nano. Ask me about Daybreak, or give me a tool to call.",
    "Hello! What can I do for you?",
)
_THANKS = (
    "Thanks",
    "Thank you",
    "Thanks a lot!",
    "Thank you very much.",
    "Great, thanks",
    "thx",
    "Cool, thank you!",
    "That helped, thanks",
)
_THANKS_ANSWERS = ("You are welcome!", "You are welcome! Ask me anything else about Daybreak.")
_BYES = ("Bye", "Goodbye", "See you", "Good night", "See you later!", "bye!", "That is all, goodbye", "Farewell")
_BYE_ANSWERS = ("Goodbye!", "Goodbye! Come back any time.")
_UNKNOWN = (
    "What is the capital of {city}?", "Write a poem about a {thing}.", "Who won the match in {city}?", "Explain how a {thing} works.",
    "Tell me a story about a {animal}.", "How far is {city} from {city2}?", "What is the meaning of {word}?", "Sing about {food} in {language}.",
    "Who is the president of {city}?", "Write an essay about {food}.", "How do I cook {food}?", "Why is the {thing} {adjective}?",
    "What does a {job} earn?", "Recommend a book about {animal}s.", "How old is {city}?", "What happened in {year}?",
    "Write a program that prints {word}.", "Fix my {thing}.", "Tell me a joke about a {job}.", "Is a {animal} faster than a {animal2}?",
    "What is the population of {city}?", "Summarise the history of {city}.", "What should I eat with {food}?", "Who invented the {thing}?",
    "Can a {animal} swim?", "What is the best {thing} in {city}?", "Do you like {food}?", "Who sells a good {thing}?",
    "Plan a trip to {city} for me.", "Is {city} a nice place?", "Give me advice about my {job}.", "Draw a {animal}.",
)  # fmt: skip
# What a declared tool could do; asked only where there is none.
_FOR_A_TOOL = (
    "What is the weather in {city}?", "How much is a {thing}?", "Translate {thing} into {language}.", "What time is it in {city}?",
    "Book a flight to {city}.", "Set a timer.", "Play some music.", "Order {food} for me.", "Is it raining in {city}?", "Search the web for {food}.",
    "Send an email to {name}.", "Turn on the light.",
)  # fmt: skip
_UNKNOWN_ANSWERS = (
    "I do not know that. I am a very small model: I know Daybreak, tools, JSON and simple tasks.",
    "That is beyond me. I am a very small model and know little of the world.",
)


def fill(dice, template):
    return template.format(
        city=dice.part(words.CITIES), city2=dice.part(words.CITIES), thing=dice.part(words.THINGS), animal=dice.part(words.ANIMALS),
        animal2=dice.part(words.ANIMALS), word=dice.word(), language=dice.part(words.LANGUAGES), food=dice.part(words.FOODS),
        adjective=dice.part(words.ADJECTIVES), name=dice.part(words.NAMES), job=dice.part(words.JOBS), year=dice.number(1500, 2030),
    )  # fmt: skip


def vary(dice, text):
    """The same request as another person would type it."""
    if dice.chance(0.5):
        text = dice.part(_OPENERS) + text + dice.part(_CLOSERS)
    if dice.chance(0.1):
        text = text.lower()
    if dice.chance(0.15):
        text = text.rstrip("?.!")
    return text


def scraps(dice):
    """Something that is no request at all."""
    kind = dice.below(3)
    if kind == 0:
        start = dice.below(len(_CORPUS) - 200)
        return _CORPUS[start : start + dice.between(2, 160)].strip() or "..."
    if kind == 1:
        return " ".join(
            dice.word() if dice.chance(0.3) else dice.part(words.NOUNS + words.VERBS)
            for _ in range(dice.between(1, 15))
        )
    return "".join(
        chr(dice.pick((dice.between(33, 126), dice.between(0xA1, 0x5FF), dice.between(0x4E00, 0x9FA0))))
        for _ in range(dice.between(1, 12))
    )


def small_talk(dice, effort, tools=False):
    """(user text, think, answer, expect) of one turn without calls; `tools` says whether tools are declared."""
    kind = dice.weighted({"greeting": 15, "fact": 55, "unknown": 17, "scraps": 5, "thanks": 4, "bye": 4})
    if kind == "fact":
        questions, answers, topic = dice.pick(FACTS)
        question = vary(dice, dice.part(questions))
        think = thoughts(
            dice, effort, f"The user asks about {topic}.", "I know this one.", "I answer in a sentence or two."
        )
        return question, think, dice.pick(answers), {"any": list(answers)}
    if kind in ("unknown", "scraps"):
        templates = _FOR_A_TOOL if not tools and dice.chance(0.25) else _UNKNOWN
        question = vary(dice, fill(dice, dice.part(templates))) if kind == "unknown" else scraps(dice)
        think = thoughts(
            dice,
            effort,
            "This is not something I know.",
            "I say so honestly.",
            "A wrong answer would be worse than none.",
        )
        return question, think, dice.pick(_UNKNOWN_ANSWERS), {"any": list(_UNKNOWN_ANSWERS)}
    said, answers, note = {
        "greeting": (_GREETINGS, _GREETING_ANSWERS, "The user greets me."), "thanks": (_THANKS, _THANKS_ANSWERS, "The user thanks me."),
        "bye": (_BYES, _BYE_ANSWERS, "The user says goodbye."),
    }[kind]  # fmt: skip
    think = thoughts(dice, effort, note, "I am polite and short.", "There is nothing else to do.")
    return dice.part(said), think, dice.pick(answers), {"any": list(answers)}


SYSTEM_PROMPTS = (
    "You are a helpful assistant.", "You are nano.", "Answer briefly.", "You are a friendly assistant.", "Be polite.",
    "You help people with Daybreak.", "You are a careful assistant. Answer in English.", "Use the tools when they fit.",
    "You are an expert.", "Keep answers short.", "Follow the user's instructions.", "You are a coding assistant.",
)  # fmt: skip


def system_prompt(dice, probability=0.3):
    """No message, or one with a general instruction."""
    return [{"role": "system", "content": dice.part(SYSTEM_PROMPTS)}] if dice.chance(probability) else []


def chat(dice):
    effort = effort_of(dice)
    messages, expect = system_prompt(dice), None
    for _ in range(dice.pick((1, 1, 1, 2, 3))):
        question, think, answer, expect = small_talk(dice, effort)
        messages += [user(question), assistant(answer, think)]
    return Sample("chat", messages, expect, effort)


def persona(dice):
    """A system message that gives a name or a word to use."""
    effort, name = effort_of(dice), dice.pick((dice.part(words.NAMES), dice.word().capitalize()))
    job = dice.part(words.JOBS)
    system = dice.part(
        (
            f"You are {name}, a {job}.",
            f"Your name is {name}. You are a {job}.",
            f"Act as {name} the {job}.",
            f"You play {name}, who is a {job}.",
        )
    )
    question, answer = dice.pick((
        (dice.part(("Who are you?", "What is your name?", "Introduce yourself.", "Tell me your name.")), f"I am {name}."),
        (dice.part(("What is your job?", "What do you do?", "What are you by trade?", "Your profession?")), f"I am a {job}."),
    ))  # fmt: skip
    think = thoughts(
        dice, effort, f"The system message says that I am {name}.", f"I am a {job}.", "I answer in that role."
    )
    messages = [{"role": "system", "content": system}, user(vary(dice, question)), assistant(answer, think)]
    return Sample("chat", messages, {"any": [answer]}, effort)
