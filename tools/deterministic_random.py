# SPDX-License-Identifier: Apache-2.0
"""Named random arrays that are the same bytes on every machine and numpy version.

Only integer arithmetic and exact IEEE additions and products are used: numpy's own distributions may change between
versions and call the platform's logarithm.
"""

import hashlib

import numpy as np

_GAMMA = np.uint64(0x9E3779B97F4A7C15)


def _key(name):
    return np.uint64(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little"))


def _mix(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def bits(name, count):
    """uint64 [count]: the splitmix64 sequence whose seed is a hash of name."""
    with np.errstate(over="ignore"):
        return _mix(_key(name) + _GAMMA * np.arange(1, count + 1, dtype=np.uint64))


def uniform(name, shape, low=0.0, high=1.0):
    """float64 in [low, high)."""
    count = int(np.prod(shape, dtype=np.int64))
    unit = (bits(name, count) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return (low + (high - low) * unit).reshape(shape)


def normal(name, shape, std=1.0):
    """Nearly normal, mean 0: the sum of four uniforms, so |x| < 2 sqrt(3) std."""
    total = uniform(name, (4, int(np.prod(shape, dtype=np.int64))))
    return ((total[0] + total[1] + total[2] + total[3] - 2.0) * (1.7320508075688772 * std)).reshape(shape)


def integers(name, shape, bound):
    """int64 in [0, bound); the bias of the remainder is below bound / 2^64."""
    count = int(np.prod(shape, dtype=np.int64))
    return (bits(name, count) % np.uint64(bound)).astype(np.int64).reshape(shape)
