# SPDX-License-Identifier: Apache-2.0
"""MXFP4: 4-bit E2M1 weights, two to a byte (low nibble first), one power-of-two scale byte per 32."""

import numpy as np

GROUP = 32
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def dequantise(packed, scale):
    """float64 [rows, cols] of packed [rows, cols/2] and scale [rows, cols/32]; scale byte s means 2^(s-127)."""
    rows = packed.shape[0]
    codes = np.stack([packed & 15, packed >> 4], axis=-1).reshape(rows, -1, GROUP)
    return (E2M1[codes] * np.exp2(scale.astype(np.float64) - 127)[:, :, None]).reshape(rows, -1)
