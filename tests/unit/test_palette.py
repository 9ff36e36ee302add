"""The hops' colours: seen on both backgrounds, and told apart by people who see fewer colours."""

from __future__ import annotations

import re
import tomllib
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

ROOT = Path(__file__).parents[2]
CSS = (ROOT / "static" / "component.css").read_text(encoding="utf-8")
THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
LEAST_CONTRAST = {"light": 4.0, "dark": 6.2}
TOLD_APART = 12.0
"""CIE76 distance in Lab; about 2.3 is just noticeable side by side."""
TYPES_TOLD_APART = 10.0
"""There are nine, and each has a letter too."""

# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB.
SIGHT = {
    "full": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritan": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = TO_XYZ @ np.ones(3)

Colour = npt.NDArray[np.float64]


def linear(code: str) -> Colour:
    """`#rrggbb` as linear RGB, 0..1."""
    srgb = np.array([int(code[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def contrast(one: Colour, other: Colour) -> float:
    light, dark = sorted((float(TO_XYZ[1] @ one), float(TO_XYZ[1] @ other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def lab(colour: Colour) -> Colour:
    ratio = np.clip(TO_XYZ @ np.clip(colour, 0, 1) / WHITE, 1e-9, None)
    f = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def palette(scheme: str) -> list[Colour]:
    rule = re.search(r"\.panel\.dark \{(.*?)\}" if scheme == "dark" else r"\.panel \{(.*?)\}", CSS, re.DOTALL)
    assert rule
    return [linear(code) for code in re.findall(r"--hop-\d: (#[0-9a-f]{6})", rule[1])]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_hop_stands_out_from_the_background(scheme: str) -> None:
    background = linear(THEME[scheme]["backgroundColor"])
    colours = palette(scheme)
    assert len(colours) == 5
    assert min(contrast(colour, background) for colour in colours) >= LEAST_CONTRAST[scheme]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("sight", SIGHT)
def test_hops_are_told_apart(scheme: str, sight: str) -> None:
    seen = [lab(SIGHT[sight] @ colour) for colour in palette(scheme)]
    assert min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2)) > TOLD_APART


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_digit_is_readable_on_its_colour(scheme: str) -> None:
    background = linear(THEME[scheme]["backgroundColor"])
    assert all(contrast(colour, background) >= LEAST_CONTRAST[scheme] for colour in palette(scheme)[1:])


def type_colours(scheme: str) -> list[Colour]:
    rule = re.search(r"\.browse\.dark \{(.*?)\}" if scheme == "dark" else r"\.browse \{(.*?)\}", CSS, re.DOTALL)
    assert rule
    return [linear(code) for code in re.findall(r"--type-(?:\d|rest): (#[0-9a-f]{6})", rule[1])]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("sight", SIGHT)
def test_types_are_told_apart_and_their_letters_readable(scheme: str, sight: str) -> None:
    background = linear(THEME[scheme]["backgroundColor"])
    colours = type_colours(scheme)
    assert len(colours) == 9
    assert min(contrast(colour, background) for colour in colours) >= LEAST_CONTRAST[scheme]
    seen = [lab(SIGHT[sight] @ colour) for colour in colours]
    assert min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2)) > TYPES_TOLD_APART
