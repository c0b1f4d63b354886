"""The peers' cells as plain NumPy loops in f64, lagtape's loss, and the check of a peer against both.

Weights are a dictionary of arrays: W [4, units, units] for states, U [4, units, input] for inputs, b [4, units], and for the
read-out V [q, units] and c [q]. The four are 1, 2, 3, 4 in the tau-GRU and i, f, g, o in the LSTM. lagtape keeps two biases per
pair of products, whose sum is b; the peers omit the second. The GRU has W and U for r, z and n, and b for r, z, U n and W n.
Without V and c there is no read-out. x is [T, B, input], outputs are [T, B, q] or [B, q].
"""

import numpy as np


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


def tau_gru_states(w, x, tau):
    """h [T, B, units] for h' = (1 - g) h + g (u + a z), where z uses the state tau steps back."""
    zero = np.zeros((x.shape[1], w["W"].shape[1]))
    states = [zero]
    for n, x_n in enumerate(x):
        h, delayed = states[-1], states[n - tau] if n >= tau else zero
        p = [v @ w["W"][i].T + x_n @ w["U"][i].T + w["b"][i] for i, v in enumerate((h, delayed, h, h))]
        g = sigmoid(p[2])
        states.append((1 - g) * h + g * (np.tanh(p[0]) + sigmoid(p[3]) * np.tanh(p[1])))
    return np.stack(states[1:])


def lstm_states(w, x, tau=None):
    """h [T, B, units] for c' = f c + i g, h' = o tanh(c')."""
    h = c = np.zeros((x.shape[1], w["W"].shape[1]))
    states = []
    for x_n in x:
        i, f, g, o = (h @ w["W"][k].T + x_n @ w["U"][k].T + w["b"][k] for k in range(4))
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        states.append(h)
    return np.stack(states)


def gru_states(w, x, tau=None):
    """h [T, B, units] for h' = (1 - z) tanh(U x + r (W h)) + z h."""
    h, states = np.zeros((x.shape[1], w["W"].shape[1])), []
    for x_n in x:
        Wh, Ux = [h @ W.T for W in w["W"]], [x_n @ U.T + b for U, b in zip(w["U"], w["b"])]
        r, z = (sigmoid(Wh[k] + Ux[k]) for k in range(2))
        h = (1 - z) * np.tanh(Ux[2] + r * (Wh[2] + w["b"][3])) + z * h
        states.append(h)
    return np.stack(states)


STATES = {"tau_gru": tau_gru_states, "lstm": lstm_states, "gru": gru_states}


def loss(case, w, x, target):
    """Mean over all elements (mse), or over everything classified (cross_entropy)."""
    states = STATES[case.cell](w, x, case.tau)
    y = states if case.every_step else states[-1]
    if "V" in w:
        y = y @ w["V"].T + w["c"]
    if case.loss == "mse":
        return np.mean((y - target) ** 2)
    y = y - y.max(-1, keepdims=True)
    chosen = np.take_along_axis(y, target[..., None], -1)[..., 0]
    return np.mean(np.log(np.exp(y).sum(-1)) - chosen)


def projected(case, w, x, target, direction):
    """The directional derivative of the loss, by central differences."""
    step = 1e-5
    ahead, behind = ({k: w[k] + sign * step * direction.get(k, 0) for k in w} for sign in (1, -1))
    return (loss(case, ahead, x, target) - loss(case, behind, x, target)) / (2 * step)


def directions(w, each):
    """Normally distributed directions: in one tensor (or one gate) at a time, or in all at once."""
    rng = np.random.default_rng(7)
    if not each:
        return [{k: rng.standard_normal(v.shape) for k, v in w.items()}]
    result = []
    for name, value in w.items():
        for gate in range(len(value)) if name in "WUb" else [slice(None)]:
            direction = np.zeros(value.shape)
            direction[gate] = rng.standard_normal(value[gate].shape)
            result.append({name: direction})
    return result


def check(case, w, x, target, found_loss, gradients, each):
    """Compares a peer's f32 loss and gradients with the f64 loops. Returns the two errors, relative to the loss and to the norm
    of the compared gradient; raises ValueError if either is too large."""
    w = {name: value.astype(np.float64) for name, value in w.items()}
    x = x.astype(np.float64)
    expected = loss(case, w, x, target)
    loss_error = abs(found_loss - expected) / abs(expected)
    gradient_error = 0.0
    for direction in directions(w, each):
        masked = np.concatenate([(gradients[k] * (v != 0)).ravel() for k, v in direction.items()])
        if masked.shape != (sum(v.size for v in direction.values()),) or not np.isfinite(masked).all():
            raise ValueError(f"gradient of {', '.join(direction)}: not finite, or of the wrong shape")
        along = sum(np.sum(gradients[k].astype(np.float64) * v) for k, v in direction.items())
        off = abs(along - projected(case, w, x, target, direction))
        norm = np.linalg.norm(masked)
        gradient_error = max(gradient_error, off / norm if norm > 0 else np.inf)
    if not (loss_error <= 1e-4 and gradient_error <= 1e-3):
        raise ValueError(f"the loss is off by {loss_error:.2g}, the gradient by {gradient_error:.2g}")
    return loss_error, gradient_error
