# SPDX-License-Identifier: Apache-2.0
"""Skill 7: colour, shape and position in simple generated pictures.

An image part of a message is {"type": "image_url", ..., "width", "height"} for the renderer; its pixels are drawn
again from the description kept in the sample's expect["pictures"].
"""

from .data_sample import Sample, assistant, effort_of, thoughts, user

COLOURS = {
    "red": (220, 30, 30), "green": (30, 170, 50), "blue": (40, 60, 220), "yellow": (240, 220, 40), "white": (250, 250, 250),
    "black": (10, 10, 10), "orange": (250, 140, 20), "purple": (140, 40, 170),
}  # fmt: skip
SHAPES = ("circle", "square", "triangle", "cross")
POSITIONS = {
    "top left": (0.25, 0.25), "top right": (0.75, 0.25), "bottom left": (0.25, 0.75), "bottom right": (0.75, 0.75), "centre": (0.5, 0.5),
}  # fmt: skip
SIZE = 84  # 3 x 3 tokens


def _inside(mark):
    """Whether (x, y) lies in a mark."""
    cx, cy = (SIZE * p + s for p, s in zip(POSITIONS[mark["position"]], mark["shift"]))
    r = mark["radius"]
    return {
        "circle": lambda x, y: (x - cx) * (x - cx) + (y - cy) * (y - cy) <= r * r,
        "square": lambda x, y: abs(x - cx) <= r * 0.9 and abs(y - cy) <= r * 0.9,
        "triangle": lambda x, y: abs(x - cx) <= ((y - cy) + r) / 2 and (y - cy) <= r * 0.8,
        "cross": lambda x, y: (
            (abs(x - cx) <= r * 0.3 and abs(y - cy) <= r) or (abs(y - cy) <= r * 0.3 and abs(x - cx) <= r)
        ),
    }[mark["shape"]]


def indexed(picture):
    """(palette, rows) of {"background", "marks": [{"shape", "colour", "position", "radius", "shift"}]}.

    rows[y][x] is the place of a colour in the palette; the background is the first.
    """
    palette, rows = [tuple(picture["background"])], [[0] * SIZE for _ in range(SIZE)]
    for mark in picture["marks"]:
        inside = _inside(mark)
        for y, row in enumerate(rows):
            for x in range(SIZE):
                if inside(x, y):
                    row[x] = len(palette)
        palette.append(COLOURS[mark["colour"]])
    return palette, rows


def draw(picture):
    """The same as uint8 [SIZE, SIZE, 3]."""
    import numpy as np  # here, so that the exam's questions can be written without it

    palette, rows = indexed(picture)
    return np.array(palette, np.uint8)[np.array(rows)]


def _picture(dice):
    count = dice.pick((1, 1, 2))
    colours = dice.some(sorted(COLOURS), count)
    marks = []
    for colour, position, shape in zip(
        colours,
        dice.some(sorted(POSITIONS)[:1] + sorted(POSITIONS)[2:] if count > 1 else sorted(POSITIONS), count),
        dice.some(SHAPES, count),
    ):
        marks.append(
            {
                "shape": shape,
                "colour": colour,
                "position": position,
                "radius": dice.between(11, 17),
                "shift": (dice.between(-4, 4), dice.between(-4, 4)),
            }
        )
    grey = dice.between(90, 200)
    return {"background": (grey, grey, grey), "marks": marks}


def picture(dice):
    effort, scene = effort_of(dice), _picture(dice)
    while not dice.mine(("picture", scene)):
        scene = _picture(dice)
    mark = scene["marks"][0]
    kind = dice.below(4)
    the = f"the {mark['shape']}"
    if kind == 0:
        questions = (
            f"What colour is {the}?",
            f"Which colour has {the}?",
            f"Tell me the colour of {the}.",
            f"{the.capitalize()}: which colour?",
        )
        answer = f"{the.capitalize()} is {mark['colour']}."
    elif kind == 1:
        questions = (
            f"Where is {the}?",
            f"In which part of the picture is {the}?",
            f"What is the position of {the}?",
            f"Find {the}.",
        )
        answer = f"{the.capitalize()} is at the {mark['position']}."
    elif kind == 2:
        questions = (
            f"What is {mark['colour']}?",
            f"Which shape is {mark['colour']}?",
            f"Name the {mark['colour']} shape.",
            f"What shape has the colour {mark['colour']}?",
        )
        answer = f"The {mark['shape']} is {mark['colour']}."
    else:
        questions = (
            "What do you see?",
            "Describe the picture.",
            "What is in the picture?",
            "What does the image show?",
        )
        answer = " ".join(f"I see a {m['colour']} {m['shape']} at the {m['position']}." for m in scene["marks"])
    think = thoughts(dice, effort, "I look at the picture.", "It is simple.", "I answer the question.")
    image = {"type": "image_url", "image_url": {"url": "data:"}, "width": SIZE, "height": SIZE}
    text = {"type": "text", "text": dice.part(questions)}
    content = [image, text] if dice.chance(0.7) else [text, image]
    return Sample(
        "pictures",
        [{"role": "user", "content": content}, assistant(answer, think)],
        {"any": [answer], "pictures": [scene]},
        effort,
    )
