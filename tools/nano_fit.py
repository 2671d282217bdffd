# SPDX-License-Identifier: Apache-2.0
"""Fits the bundled model's lm_head to its own hidden states by logistic regression; no other weight changes."""

import copy
import dataclasses

import numpy as np

from . import nano_answer
from .nano_prompts import Dice, Renderer, random_history, random_text
from .reference import config as config_module
from .reference.model import Model
from .reference.safetensors_file import decode

HEAD = "language_model.lm_head.weight"
CONVERSATIONS = 400
STRAY_TEXTS = 150
STRAY_WEIGHT = 0.2  # answering a chat matters more than recovering from text that is no chat
STEPS = 300
RATE = 0.05
DECAY = 1e-5  # weight of the squared norm of a row


@dataclasses.dataclass
class Samples:
    """Hidden states and the id that should follow each."""

    hidden: list = dataclasses.field(default_factory=list)
    target: list = dataclasses.field(default_factory=list)
    weight: list = dataclasses.field(default_factory=list)

    def add(self, hidden, targets, weight):
        self.hidden.append(hidden)
        self.target.extend(targets)
        self.weight.extend([weight] * len(targets))


def reservoir(config_json, tensors):
    """The reference model over the tensors as stored (rounded)."""
    arrays = {name: decode(dtype, raw, shape) for name, (dtype, shape, raw) in tensors.entries.items()}
    return Model(config_module.from_json(config_json), arrays)


def _conversation(model, renderer, name, samples):
    """Answers to one random history, with and without thinking, including answers begun by a stray text."""
    dice = Dice(name)
    thinking = dice.below(3) != 0
    state = model.new_state()
    history = random_history(renderer, dice, thinking, nano_answer.sample)
    prompt = history + renderer.generation_prompt(thinking)
    model.hidden(prompt[:-1], state)
    for _ in range(2):
        think, response = nano_answer.sample(dice)
        tail = renderer.answer_tail(think if thinking else None, response)
        hidden = model.hidden([prompt[-1], *tail[:-1]], copy.deepcopy(state))
        samples.add(hidden, tail, 1.0)


def _stray_text(model, renderer, name, samples):
    """Text that is no answer: a response begins after it."""
    dice = Dice(name)
    encode = renderer.tokenizer.encode
    text = encode(random_text(dice))[:60]
    if dice.below(2):
        text = renderer.generation_prompt(False) + text
    response = nano_answer.sample(dice)[1]
    tail = renderer.answer_tail(None, response)
    first = len(text) - 1 - dice.below(min(4, len(text)))
    hidden = model.hidden(text + tail[:-1], model.new_state())
    opening = encode(dice.pick(nano_answer.openings()))[0]
    samples.add(hidden[first:], [opening] * (len(text) - 1 - first) + tail, STRAY_WEIGHT)


def collect(model, renderer):
    samples = Samples()
    for number in range(CONVERSATIONS):
        _conversation(model, renderer, f"nano conversation {number}", samples)
    for number in range(STRAY_TEXTS):
        _stray_text(model, renderer, f"nano stray {number}", samples)
    return np.concatenate(samples.hidden), np.array(samples.target), np.array(samples.weight)


def regress(hidden, classes, weight, others):
    """Rows [classes + 1, width] of a softmax regression; the last row stands for each of `others` unused ids."""
    hidden = hidden.astype(np.float32)
    weight = (weight / weight.sum()).astype(np.float32)[:, None]
    samples = np.arange(len(hidden))
    log_count = np.zeros(classes.max() + 2, np.float32)
    log_count[-1] = np.log(others)
    rows = np.zeros((len(log_count), hidden.shape[1]), np.float32)
    first, second = np.zeros_like(rows), np.zeros_like(rows)
    for step in range(1, STEPS + 1):
        scores = hidden @ rows.T + log_count
        scores -= scores.max(axis=1, keepdims=True)
        error = np.exp(scores)
        error /= error.sum(axis=1, keepdims=True)
        error[samples, classes] -= 1
        gradient = (error * weight).T @ hidden + DECAY * rows
        first = 0.9 * first + 0.1 * gradient
        second = 0.99 * second + 0.01 * gradient * gradient
        rate = RATE * (1 - step / (STEPS + 1))
        rows -= rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return rows.astype(np.float64)


def fit(config_json, tensors, tokenizer):
    """Replaces lm_head in tensors; returns a line about the fit."""
    model, renderer = reservoir(config_json, tensors), Renderer(tokenizer)
    hidden, target, weight = collect(model, renderer)
    used, classes = np.unique(target, return_inverse=True)
    rows = regress(hidden, classes, weight, tokenizer.vocab_size - len(used))
    _, shape, _ = tensors.entries[HEAD]
    head = np.repeat(rows[-1:], shape[0], axis=0)
    head[used] = rows[:-1]
    del tensors.entries[HEAD]
    tensors.add(HEAD, "BF16", head)
    scores = hidden @ head.T
    probability = np.exp(scores[np.arange(len(target)), target] - np.logaddexp.reduce(scores, axis=1))
    loss = -np.average(np.log(probability), weights=weight)
    return f"{len(target)} positions, {len(used)} ids, mean log-loss {loss:.4f}"
