"""The tau-GRU, the LSTM and the GRU in JAX: `jit` of `value_and_grad` of `lax.scan`, with all input projections in one product.

A scan that carried the last tau states would keep them for backward at every step (46 GB for the adding problem). The tau-GRU
therefore scans over blocks of at most tau + 1 steps, and over the steps in each; a block's delayed products are a single
product, because the delayed states are already known."""

import os

import peer  # before NumPy is loaded

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def tau_gru_states(w, x, tau):
    units = w["W"].shape[1]
    W_present = jnp.concatenate([w["W"][i] for i in (0, 2, 3)]).T
    W_delayed = w["W"][1].T
    U = jnp.concatenate([w["U"][i] for i in (0, 2, 3, 1)]).T
    b = jnp.concatenate([w["b"][i] for i in (0, 2, 3, 1)])

    steps, batch = x.shape[:2]
    blocks = -(-steps // (tau + 1))
    size = -(-steps // blocks)
    inputs = jnp.pad(x @ U + b, ((0, blocks * size - steps), (0, 0), (0, 0)))

    def step(h, inputs):
        x_present, z = inputs
        present = x_present + h @ W_present
        u, g, a = jnp.split(present, 3, axis=1)
        g = jax.nn.sigmoid(g)
        h = h + g * (jnp.tanh(u) + jax.nn.sigmoid(a) * z - h)
        return h, h

    def block(window, inputs):
        """window [tau + 1, batch, units]: the last states, ending with the current one."""
        z = jnp.tanh(inputs[..., 3 * units:] + window[:size] @ W_delayed)
        states = lax.scan(step, window[-1], (inputs[..., :3 * units], z))[1]
        return jnp.concatenate([window, states])[-(tau + 1):], states

    window = jnp.zeros((tau + 1, batch, units), x.dtype)
    states = lax.scan(block, window, inputs.reshape(blocks, size, batch, 4 * units))[1]
    return states.reshape(blocks * size, batch, units)[:steps]


def lstm_states(w, x, tau):
    units = w["W"].shape[1]
    W = w["W"].reshape(4 * units, units).T
    inputs = x @ w["U"].reshape(4 * units, -1).T + w["b"].reshape(-1)

    def step(carry, x_n):
        h, c = carry
        i, f, g, o = jnp.split(x_n + h @ W, 4, axis=1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros((x.shape[1], units), x.dtype)
    return lax.scan(step, (zero, zero), inputs)[1]


def gru_states(w, x, tau):
    units = w["W"].shape[1]
    W = w["W"].reshape(3 * units, units).T
    inputs = x @ w["U"].reshape(3 * units, -1).T + w["b"][:3].reshape(-1)

    def step(h, x_n):
        Wh = h @ W
        r, z = jnp.split(jax.nn.sigmoid(x_n[:, :2 * units] + Wh[:, :2 * units]), 2, axis=1)
        n = jnp.tanh(x_n[:, 2 * units:] + r * (Wh[:, 2 * units:] + w["b"][3]))
        h = n + z * (h - n)
        return h, h

    return lax.scan(step, jnp.zeros((x.shape[1], units), x.dtype), inputs)[1]


STATES = {"tau_gru": tau_gru_states, "lstm": lstm_states, "gru": gru_states}


class Work:
    def __init__(self, case, weights, x, target):
        def loss(w, x, target):
            states = STATES[case.cell](w, x, case.tau)
            y = states if case.every_step else states[-1]
            if case.readout:
                y = y @ w["V"].T + w["c"]
            if case.loss == "mse":
                return jnp.mean((y - target) ** 2)
            log_p = jax.nn.log_softmax(y)
            return -jnp.mean(jnp.take_along_axis(log_p, target[..., None], -1))

        self.loss, self.gradients = jax.jit(loss), jax.jit(jax.value_and_grad(loss))
        self.arguments = jax.device_put((weights, x, target.astype(np.int32) if case.loss == "cross_entropy" else target))

    def forward(self):
        self.loss(*self.arguments).block_until_ready()

    def forward_and_backward(self):
        return jax.block_until_ready(self.gradients(*self.arguments))

    def read(self):
        loss, gradients = self.forward_and_backward()
        return float(loss), {name: np.asarray(value) for name, value in gradients.items()}


def set_threads(threads):
    """Limits XLA's threads. It uses as many as the process has processors, so call this before it starts."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


if __name__ == "__main__":
    peer.main(peer.Peer("jax scan", jax.__version__, tuple(STATES), set_threads, Work,
                        {"tau_gru": "blocks of at most tau + 1 steps, whose delayed products are one"}))
