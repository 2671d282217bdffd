# SPDX-License-Identifier: Apache-2.0
"""Skill 8: fixed phrases in Chinese and Japanese. Of the questions with one answer some are held out."""

import pathlib

from .data_sample import Sample, assistant, effort_of, thoughts, user

_LINES = (pathlib.Path(__file__).parent / "phrases.txt").read_text(encoding="utf-8").splitlines()
PHRASES = tuple(tuple(line.split("|")) for line in _LINES)


def phrase(dice, *effort):
    """effort, if given, is the thinking effort of the conversation."""
    effort, (question, answer) = effort[0] if effort else effort_of(dice), dice.part(PHRASES)
    japanese = any("\u3041" <= c <= "\u30ff" for c in answer)
    language = "Japanese" if japanese else "Chinese"
    think = thoughts(dice, effort, f"This is {language}.", "I know a fitting phrase.", f"I answer in {language}.")
    return Sample("phrases", [user(question), assistant(answer, think)], {"any": [answer]}, effort)
