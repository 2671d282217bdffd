# SPDX-License-Identifier: Apache-2.0
"""Float64 numpy model of the Kimi K3 family, written from the published formulas only.

It is the oracle behind golden/model: slow, in the most literal form (expanded attention, token-by-token recurrence),
and it shares no code with the C++ model it checks.
"""
