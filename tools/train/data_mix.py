# SPDX-License-Identifier: Apache-2.0
"""The mixture of skills: conversation number n of a split, the same on every machine."""

from . import data_chat, data_json, data_phrases, data_pictures, data_recall, data_tasks, data_tools
from .data_dice import Dice

SEED = "daybreak nano 2"
# Generator and weight. The order is the order of priority.
MIXTURE = {
    data_chat.chat: 14, data_chat.persona: 3,
    data_tools.calls: 15, data_tools.session: 13, data_tools.no_call: 5, data_tools.results: 6, data_tools.missing_argument: 4,
    data_json.json_answer: 17,
    data_recall.recall: 9, data_recall.unknown_fact: 2,
    data_tasks.several: 8, data_tasks.list_task: 1, data_tasks.arithmetic: 1, data_tasks.state_effort: 1, data_tasks.copy_text: 1,
    data_phrases.phrase: 2,
}  # fmt: skip
PICTURES = {data_pictures.picture: 12}


def sample(split, number, seed=SEED, pictures=False):
    """Conversation `number` of a split."""
    dice = Dice(seed, split, number)
    return dice.weighted({**MIXTURE, **PICTURES} if pictures else MIXTURE)(dice)


def long_recall(split, number, characters, seed=SEED):
    """A conversation with facts and about that much text around them."""
    return data_recall.recall(Dice(f"{seed} recall {characters}", split, number), characters)
