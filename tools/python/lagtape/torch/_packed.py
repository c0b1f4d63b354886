"""Converts PyTorch's packed sequences to padded ones, and back."""

from __future__ import annotations

from typing import Callable, Tuple

from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence


def unpack(packed: PackedSequence) -> Tuple[Tensor, Tensor, Callable[[Tensor], PackedSequence]]:
    """x [B, T, width] and lengths [B], in the rows' order before sorting, and a function that packs outputs [B, T, units]
    in the order of `packed`."""
    x, lengths = pad_packed_sequence(packed, batch_first=True)

    def pack(y: Tensor) -> PackedSequence:
        order = packed.sorted_indices
        rows, own = (y, lengths) if order is None else (y.index_select(0, order), lengths.index_select(0, order))
        data = pack_padded_sequence(rows, own, batch_first=True).data
        return PackedSequence(data, packed.batch_sizes, order, packed.unsorted_indices)

    return x, lengths, pack
