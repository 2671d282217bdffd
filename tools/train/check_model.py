# SPDX-License-Identifier: Apache-2.0
"""Holds the JAX model to the float64 reference, to slower forms of itself, and to the product.

    python -m tools.train.check_model [--model DIR] [--daybreak BINARY] [--vision DIR]

Without --model a checkpoint with random weights is made. --vision names reference data of the released tower: model/,
images/ and features.json. Exits 1 and says what differs if anything does.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp
import numpy as np

from .. import checkpoint_writer
from ..reference import mxfp4 as stored
from ..reference import config as reference_config
from ..reference import ops as reference_ops
from ..reference.model import Model
from ..reference.safetensors_file import read_snapshot
from . import config, data_mix, data_stream, export, kda, model, moe, mxfp4, state, step, vision
from .data_dice import HELD_OUT
from .data_render import Renderer, flat
from .tokenizer import Tokenizer, make

MAX_REFERENCE, MAX_PRODUCT = 1e-4, 1e-3  # rel-rms per logits row


def rel_rms(found, expected):
    """Per row."""
    return np.sqrt(((found - expected) ** 2).mean(axis=-1) / (expected**2).mean(axis=-1))


def random_checkpoint(directory):
    """Weights none of which is at a special value, such as a zero mixing query."""
    tokenizer = make(ranks=600, samples=300)
    value = config.config_json(tokenizer)
    parsed, random = config.parse(value), np.random.default_rng(5)
    params = {n: p + 0.1 * random.normal(size=p.shape) for n, p in model.initial(parsed, 3).items()}
    biases = [0.1 * random.normal(size=parsed.experts) for _ in model.initial_biases(parsed)]
    export.write(directory, params, biases, value, tokenizer)


def prompts(tokenizer, count):
    renderer = Renderer(tokenizer)
    return [np.asarray(flat(renderer.whole(data_mix.sample(HELD_OUT, n)))[0]) for n in range(count)]


def packed(documents, length):
    """(ids, segments) of one row."""
    ids, segments, start = np.zeros((1, length), np.int32), np.full((1, length), -1, np.int32), 0
    for number, one in enumerate(documents):
        ids[0, start : start + len(one)], segments[0, start : start + len(one)] = one, number
        start += len(one)
    return ids, segments


def check_forward(directory):
    """Packed documents in JAX against each alone in the reference."""
    params, biases, parsed = export.read(directory)
    reference, documents = Model.load(directory), prompts(Tokenizer.load(directory), 5)
    length = -(-sum(map(len, documents)) // 128) * 128
    forward = jax.jit(
        lambda i, s: model.hidden(params, biases, i, s, parsed, quantised=False)[0] @ params["lm_head.weight"].T
    )
    found, start, worst = np.asarray(forward(*packed(documents, length)))[0], 0, 0.0
    for one in documents:
        expected = reference.logits(reference.hidden(one, reference.new_state()))
        worst = max(worst, rel_rms(found[start : start + len(one)], expected).max())
        start += len(one)
    return f"{length} packed tokens against the float64 reference: rel-rms at most {worst:.1e}", worst <= MAX_REFERENCE


def check_product(directory, binary):
    """Last logits of the product's exact mode against JAX."""
    params, biases, parsed = export.read(directory)
    forward = jax.jit(
        lambda i, s: model.hidden(params, biases, i, s, parsed, quantised=False)[0] @ params["lm_head.weight"].T
    )
    worst, documents = 0.0, prompts(Tokenizer.load(directory), 8)
    for one in documents:
        with tempfile.NamedTemporaryFile() as out:
            command = [
                binary,
                "generate",
                directory,
                "--ids",
                ",".join(map(str, one)),
                "--max-tokens",
                "0",
                "--logits-out",
                out.name,
            ]
            subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
            expected = np.fromfile(out.name, "<f4")
        found = np.asarray(forward(*packed([one], 1024)))[0, len(one) - 1]
        worst = max(worst, float(rel_rms(found, expected)))
    return f"{len(documents)} last logits of the product: rel-rms at most {worst:.1e}", worst <= MAX_PRODUCT


def check_rounding(_):
    random, same = np.random.default_rng(1), True
    for scale in (1e-3, 0.1, 3.0):
        w = (scale * random.standard_t(3, size=(64, 96))).astype(np.float32)
        same &= bool(
            (stored.dequantise(*checkpoint_writer.quantise_mxfp4(w)) == np.asarray(mxfp4.rounded(jnp.asarray(w)))).all()
        )
    grid = np.array([[s * v for v in np.arange(0, 8, 0.25) for s in (1,)]], np.float32).reshape(1, 32)  # every tie
    same &= bool(
        (
            stored.dequantise(*checkpoint_writer.quantise_mxfp4(grid)) == np.asarray(mxfp4.rounded(jnp.asarray(grid)))
        ).all()
    )
    return "rounding of experts in training = what the file stores", same


def check_experts(directory):
    """The sorted form against every expert for every token: values and gradients."""
    random = np.random.default_rng(2)
    parsed = reference_config.load(directory)
    shapes = (
        (700, parsed.latent),
        (700, 4),
        *((parsed.experts, a, b) for a, b in ((32, parsed.latent), (32, parsed.latent), (parsed.latent, 32))),
    )
    z, weights, w1, w3, w2 = (jnp.asarray(random.normal(size=s), jnp.float32) for s in shapes)
    ids = jnp.asarray(
        np.stack(
            [
                random.choice(parsed.experts, 4, replace=False, p=np.arange(1, parsed.experts + 1) / 528)
                for _ in range(700)
            ]
        ),
        jnp.int32,
    )
    worst = 0.0

    def loss(form, *inputs):
        return (form(inputs[0], ids, *inputs[1:], parsed) ** 2).sum()

    for one, other in zip(
        *(
            jax.grad(lambda *a, f=f: loss(f, *a), argnums=tuple(range(5)))(z, weights, w1, w3, w2)
            for f in (moe.experts_of, moe.experts_dense)
        )
    ):
        worst = max(worst, float(abs(one - other).max() / abs(other).max()))
    return f"gradients of sorted experts against dense ones: {worst:.1e}", worst < 1e-5


def check_recurrence(_):
    """The chunked form against the reference's token by token, strong and weak decays, documents in a row."""
    random, worst = np.random.default_rng(3), 0.0
    for low in (-5.0, -0.01):
        q, k, v, g = (random.normal(size=(1, 96, 2, 32)) for _ in range(4))
        q, k = (reference_ops.l2_normalize(x, 1e-6) for x in (q, k))
        g, beta = low * reference_ops.sigmoid(3 * g), reference_ops.sigmoid(random.normal(size=(1, 96, 2)))
        segments = np.repeat([0, 1, 2], (37, 50, 9))[None]
        found = kda.recurrence(*(jnp.asarray(x, jnp.float32) for x in (q, k, v, g, beta)), jnp.asarray(segments))[0]
        for number in range(3):
            at = segments[0] == number
            expected = reference_ops.kda_recurrence(
                *(x[0, at] for x in (q, k, v)), np.exp(g[0, at]), beta[0, at], np.zeros((2, 32, 32))
            )
            worst = max(worst, float(abs(found[at] - expected).max() / abs(expected).max()))
    return f"chunked recurrence against token by token: {worst:.1e}", worst < 1e-5


def check_vision(reference):
    """Features of pictures against those of the released code."""
    from PIL import Image

    config_value = json.loads((reference / "model" / "config.json").read_text())["vision_config"]
    params = {
        n: jnp.asarray(x, jnp.float32)
        for n, x in read_snapshot(reference / "model").items()
        if n.startswith(("vision_tower.", "mm_projector."))
    }
    worst, cases = 0.0, json.loads((reference / "features.json").read_text())
    for case in cases:
        image = np.asarray(Image.open(reference / "images" / case["file"]).convert("RGB"))
        rows, columns = (-(-n // 28) * 2 for n in image.shape[:2])
        found = vision.features(params, config_value, vision.patches(image, 14)[None], rows, columns)[0]
        worst = max(worst, float(abs(found - np.reshape(case["features"], case["shape"])).max()))
    return f"features of {len(cases)} pictures against the released code: {worst:.1e}", worst < 1e-5


def check_stream(directory):
    """A saved stream goes on with the same batches."""
    renderer = Renderer(Tokenizer.load(directory))
    stream = data_stream.Stream(renderer)
    for _ in range(5):
        next(stream)
    again = data_stream.Stream(renderer, stream.save())
    same = all(
        np.array_equal(getattr(a, f), getattr(b, f))
        for a, b in ((next(stream), next(again)) for _ in range(4))
        for f in ("ids", "segments", "places", "targets", "weights")
    )
    return "a resumed stream gives the same batches", same


SMALL = {
    "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 1, "num_experts": 6, "num_experts_per_token": 2,
    "intermediate_size": 32, "moe_intermediate_size": 32, "routed_expert_hidden_size": 32,
    "linear_attn_config": {
        "full_attn_layers": [3], "kda_layers": [1, 2], "gate_lower_bound": -5.0, "head_dim": 16, "num_heads": 1,
        "short_conv_kernel_size": 4, "use_full_rank_gate": True,
    },
}  # fmt: skip


def _trained(current, take, steps):
    """current after some more steps, its place in the data included."""
    stream = data_stream.Stream(Renderer(current.tokenizer()), current.stream)
    stream.add_pictures()
    for _ in range(steps):
        current.training, _ = take(current.training, next(stream), np.float32(1e-3))
    current.stream = stream.save()
    return current


def _small_state(tokenizer):
    value = config.config_json(tokenizer, **SMALL)
    parsed = config.parse(value)
    training = step.initial(model.initial(parsed), model.initial_biases(parsed))
    made = state.State(training, value, tokenizer.vocabulary)
    made.add_vision()
    return made


def check_resume(directory):
    """A small model with pictures: four steps, against two, a checkpoint, and two more."""
    tokenizer = Tokenizer.load(directory)
    fresh = _small_state(tokenizer)
    take = step.compiled(fresh.config(), fresh.config_value["vision_config"])
    straight = _trained(fresh, take, 4)
    with tempfile.TemporaryDirectory() as kept:
        state.save(kept, _trained(_small_state(tokenizer), take, 2))
        resumed = _trained(state.load(kept), take, 2)
    one, other = (jax.tree_util.tree_leaves(s.training) for s in (straight, resumed))
    same = len(one) == len(other) and all(np.array_equal(a, b) for a, b in zip(one, other))
    return "a training that was stopped and resumed has the same bits", same and straight.stream == resumed.stream


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--daybreak")
    parser.add_argument("--vision", type=pathlib.Path)
    options = parser.parse_args(arguments)
    data_stream.register()
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        directory = options.model or pathlib.Path(scratch)
        if not options.model:
            random_checkpoint(directory)
        checks = [check_rounding, check_recurrence, check_experts, check_stream, check_resume, check_forward]
        results = [check(directory) for check in checks]
        if options.daybreak:
            results.append(check_product(directory, options.daybreak))
        if options.vision:
            results.append(check_vision(options.vision))
        for text, good in results:
            print(f"{'ok  ' if good else 'FAIL'} {text}")
            failed += not good
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
