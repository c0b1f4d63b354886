"""lagtape's recurrences as PyTorch modules, on the CPU.

    from lagtape.torch import LSTM, Recurrence

    recurrence = Recurrence("tau_gru", 1, units=128, tau=65, at="last_step")
    y, window = recurrence(x)  # x [B, T, 1], y [B, 128]

    layer = LSTM(1, 128, batch_first=True)  # like torch.nn.LSTM; likewise GRU and RNN
    y, (h, c) = layer(x)
"""

from ._layers import GRU, LSTM, RNN
from ._recurrence import Recurrence

__all__ = ["GRU", "LSTM", "RNN", "Recurrence"]
