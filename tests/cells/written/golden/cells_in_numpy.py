"""The cells of cells/written in NumPy.

They follow the papers, not the library: complex numbers where the papers have them (LRU), the matrix of a step
(LinOSS), gates without a stabilizer (xLSTM), whole matrices (gated DeltaNet), a step of each channel (Mamba). Parameters have
lagtape's names.
"""

import math

import numpy as np

def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def softplus(a):
    return np.log1p(np.exp(a))


def silu(a):
    return a * sigmoid(a)


def gelu(a):
    return np.array([0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in a])


def affine(p, name, x):
    return p[name] @ x + p[name + ".bias"]


def by_head(v, heads):
    return v.reshape(heads, -1)


def direct(p, x):
    return p["D"] * x if p["D"].ndim == 1 else p["D"] @ x


class Past:
    """The values of a sequence so far, for causal convolutions over them."""

    def __init__(self, p, name, taps):
        self.taps = [p[f"{name}{k}"] for k in range(taps)]
        self.bias, self.values = p[name + ".bias"], []

    def __call__(self, v):
        self.values.append(v)
        return self.bias + sum(tap * self.values[-1 - k] for k, tap in enumerate(self.taps) if k < len(self.values))


def block_diagonal(p, name, heads):
    if heads == 1:
        return p[name]
    blocks = [p[f"{name}.{k}"] for k in range(heads)]
    size = len(blocks[0])
    whole = np.zeros((heads * size, heads * size))
    for k, block in enumerate(blocks):
        whole[k * size:(k + 1) * size, k * size:(k + 1) * size] = block
    return whole


# Each cell is a function of (options, parameters, initial states, inputs [T, input]) that gives the outputs [T, units].


def positive(a):
    return np.where(a >= 0, a + 0.5, sigmoid(a))


def min_gru(o, p, s, xs):
    h = s["h"]
    for x in xs:
        z, c = sigmoid(affine(p, "W_z", x)), affine(p, "W_h", x)
        if o.get("candidate") == "positive":
            c = positive(c)
        h = (1 - z) * h + z * c
        yield h


def min_lstm(o, p, s, xs):
    h = s["h"]
    for x in xs:
        f, i, c = sigmoid(affine(p, "W_f", x)), sigmoid(affine(p, "W_i", x)), affine(p, "W_h", x)
        if o.get("candidate") == "positive":
            c = positive(c)
        h = f / (f + i) * h + i / (f + i) * c
        yield h


def lru(o, p, s, xs):
    state = s["re"] + 1j * s["im"]
    eigenvalues = np.exp(-np.exp(p["nu_log"]) + 1j * np.exp(p["theta_log"]))
    B, C = p["B_re"] + 1j * p["B_im"], p["C_re"] + 1j * p["C_im"]
    for x in xs:
        state = eigenvalues * state + np.exp(p["gamma_log"]) * (B @ x)
        yield (C @ state).real + direct(p, x)


def linoss(o, p, s, xs):
    """The state of each oscillator is (z, y), and a step is M (z, y) + F, as in the paper."""
    A, dt = np.maximum(p["a"], 0), sigmoid(p["s"])
    state = np.stack([s["z"], s["y"]])
    for x in xs:
        force = p["B"] @ x
        for k in range(len(A)):
            if o.get("method") == "imex":
                M = np.array([[1, -dt[k] * A[k]], [dt[k], 1 - dt[k] ** 2 * A[k]]])
                F = np.array([dt[k] * force[k], dt[k] ** 2 * force[k]])
            else:
                M = np.linalg.inv(np.array([[1, dt[k] * A[k]], [-dt[k], 1]]))
                F = M @ np.array([dt[k] * force[k], 0])
            state[:, k] = M @ state[:, k] + F
        yield p["C"] @ state[1] + direct(p, x)


def d_linoss(o, p, s, xs):
    dt, G = sigmoid(p["s"]), np.maximum(p["g"], 0)
    low = (2 + dt * G - 2 * np.sqrt(1 + dt * G)) / dt**2
    high = (2 + dt * G + 2 * np.sqrt(1 + dt * G)) / dt**2
    A = np.clip(p["a"], low, high)
    state = np.stack([s["z"], s["y"]])
    for x in xs:
        force = p["B"] @ x
        for k in range(len(A)):  # (1 + dt G) z' = z - dt A y + dt force, -dt z' + y' = y
            implicit = np.array([[1 + dt[k] * G[k], 0], [-dt[k], 1]])
            explicit = np.array([[1, -dt[k] * A[k]], [0, 1]])
            state[:, k] = np.linalg.solve(implicit, explicit @ state[:, k] + np.array([dt[k] * force[k], 0]))
        yield p["C"] @ state[1] + direct(p, x)


def rg_lru(o, p, s, xs):
    h, heads, block = s["h"], o.get("heads", 1), o.get("block", True)
    W_a, W_x = block_diagonal(p, "W_a", heads), block_diagonal(p, "W_x", heads)
    past = Past(p, "K", o.get("conv", 4)) if block else None
    for x in xs:
        u = past(affine(p, "W_in", x)) if block else p["W_in"] @ x if "W_in" in p else x
        r, i = sigmoid(W_a @ u + p["W_a.bias"]), sigmoid(W_x @ u + p["W_x.bias"])
        a = sigmoid(-p["L"]) ** (8 * r)
        h = a * h + np.sqrt(1 - a**2) * (i * u)
        yield affine(p, "W_out", gelu(affine(p, "W_g", x)) * h) if block else h


def slstm(o, p, s, xs):
    """Without the stabilizer: c and n are those of the library times exp(m)."""
    heads = o.get("heads", 1)
    c, n, h = s["c"] * np.exp(s["m"]), s["nu"] * np.exp(s["m"]), s["h"]
    R = {gate: block_diagonal(p, f"R_{gate}", heads) for gate in "zifo"}
    for x in xs:
        z, i, f, out = (p[f"W_{gate}"] @ x + R[gate] @ h + p[f"W_{gate}.bias"].ravel() for gate in "zifo")
        f = np.exp(f) if o.get("forget") == "exp" else sigmoid(f)
        c, n = f * c + np.exp(i) * np.tanh(z), f * n + np.exp(i)
        h = sigmoid(out) * c / n
        yield h


def mlstm(o, p, s, xs):
    """Without the stabilizer: C and n are those of the library times exp(m)."""
    heads = o.get("heads", 1)
    C, n = s["C"] * np.exp(s["m"])[:, None, None], s["nu"] * np.exp(s["m"])[:, None]
    d = n.shape[1]
    for x in xs:
        q, v = by_head(affine(p, "W_q", x), heads), by_head(affine(p, "W_v", x), heads)
        k = by_head(p["W_k"] @ x / np.sqrt(d) + p["W_k.bias"], heads)
        i, f = np.exp(affine(p, "W_i", x)), affine(p, "W_f", x)
        f = np.exp(f) if o.get("forget") == "exp" else sigmoid(f)
        read = []
        C, n = C.copy(), n.copy()
        for j in range(heads):
            C[j] = f[j] * C[j] + i[j] * np.outer(v[j], k[j])
            n[j] = f[j] * n[j] + i[j] * k[j]
            read.append(C[j] @ q[j] / max(abs(n[j] @ q[j]), 1))
        yield sigmoid(affine(p, "W_o", x)) * np.concatenate(read)


def gated_deltanet(o, p, s, xs):
    heads, taps, S = o.get("heads", 1), o.get("conv", 4), s["S"].copy()
    past = {name: Past(p, f"K_{name}", taps) if taps else lambda v: v for name in "qkv"}
    for x in xs:
        q, k, v = (by_head(silu(past[name](p[f"W_{name}"] @ x)), heads) for name in "qkv")
        q, k = (a / np.sqrt((a * a).sum(1, keepdims=True) + 1e-6) for a in (q, k))
        alpha, beta = np.exp(-np.exp(p["A_log"]) * softplus(affine(p, "W_a", x))), sigmoid(p["W_b"] @ x)
        read = []
        for j in range(heads):
            S[j] = S[j] @ (alpha[j] * (np.eye(len(k[j])) - beta[j] * np.outer(k[j], k[j]))) + beta[j] * np.outer(v[j], k[j])
            y = S[j] @ q[j]
            read.append(p["gain"] * y / np.sqrt(np.mean(y * y) + 1e-5))
        yield p["W_out"] @ (np.concatenate(read) * silu(p["W_g"] @ x))


def hgrn2(o, p, s, xs):
    heads, low, S = o.get("heads", 1), o.get("lower_bound", 0), s["S"].copy()
    for x in xs:
        f = by_head(low + (1 - low) * sigmoid(affine(p, "W_f", x)), heads)
        i, out = by_head(affine(p, "W_i", x), heads), by_head(silu(affine(p, "W_o", x)), heads)
        for j in range(heads):
            S[j] = S[j] @ np.diag(f[j]) + np.outer(i[j], 1 - f[j])
        yield np.concatenate([S[j] @ out[j] for j in range(heads)])


def cfc(o, p, s, xs):
    h, layers = s["h"], o.get("backbone_layers", 1)

    def linear(name, v):
        weight = np.hstack([p["W_" + name], p["U_" + name]]) if "U_" + name in p else p["W_" + name]
        return weight @ v + p[f"W_{name}.bias"]

    for x in xs:
        t, x = (x[-1], x[:-1]) if o.get("elapsed") else (1, x)
        b = np.concatenate([x, h])
        for layer in range(layers):
            b = 1.7159 * np.tanh(0.666 * linear("b" if layer == 0 else f"b{layer + 1}", b))
        gate = sigmoid(linear("s", b) * t + linear("t", b))
        h = np.tanh(linear("g", b)) * (1 - gate) + gate * np.tanh(linear("k", b))
        yield h


def ltc(o, p, s, xs):
    h, unfolds = s["h"], o.get("unfolds", 6)
    tau = 1 / softplus(p["w"])
    for x in xs:
        t, x = (x[-1], x[:-1]) if o.get("elapsed") else (1, x)
        for _ in range(unfolds):
            f = sigmoid(p["W"] @ h + affine(p, "U", x))
            h = (h + t / unfolds * f * p["A"]) / (1 + t / unfolds * (1 / tau + f))
        yield h


def mamba(o, p, s, xs):
    S, block = s["S"].copy(), o.get("block", True)
    past = Past(p, "K", o.get("conv", 4)) if block else None
    for x in xs:
        u = silu(past(p["W_in"] @ x)) if block else p["W_in"] @ x if "W_in" in p else x
        delta = softplus(affine(p, "W_dt", p["W_rank"] @ u))
        B, C, y = p["W_B"] @ u, p["W_C"] @ u, []
        for k in range(len(u)):
            S[k] = np.exp(delta[k] * -np.exp(p["A_log"][k])) * S[k] + delta[k] * B * u[k]
            y.append(C @ S[k] + p["D"][k] * u[k])
        yield p["W_out"] @ (np.array(y) * silu(p["W_z"] @ x)) if block else np.array(y)


def echo_state(o, p, s, xs):
    h, leak = s["h"], o["leak"]
    for x in xs:
        h = (1 - leak) * h + leak * np.tanh(p["W"] @ h + affine(p, "U", x))
        yield h


# The imaginary part of a number is its derivative times a tiny step.

def spike(u, surrogate, slope):
    """1 where u is above 0, with the derivative of a smooth function."""
    v = u.real
    derivative = {"fast_sigmoid": 1 / (1 + slope * abs(v)) ** 2,
                  "sigmoid": slope * sigmoid(slope * v) * (1 - sigmoid(slope * v)),
                  "atan": slope / 2 / (1 + (np.pi / 2 * slope * v) ** 2),
                  "triangle": slope * np.maximum(1 - slope * abs(v), 0)}[surrogate]
    return (v > 0) + 1j * u.imag * derivative


def clamp(a, low, high):
    return np.clip(a.real, low, high) + 1j * a.imag * ((a.real > low) & (a.real < high))


def lif(o, p, s, xs):
    """Delays by the values of all steps before; zeros before the first."""
    spikes, inputs = [s["s"]] if "s" in s else [np.zeros(len(p["beta"]))], []
    v, a = s["v"], s.get("a", 0)
    adaptive, threshold, strength = o.get("adaptive", False), o.get("threshold", 1), o.get("strength", 1.8)

    def delayed(past, name, low, largest):
        if not largest:
            return past[-1]
        delay = clamp(p[name], low, largest)
        before = lambda k, i: past[-1 - k][i] if k < len(past) else 0
        value = []
        for i, d in enumerate(delay):
            whole = min(int(d.real), largest - 1)
            value.append((whole + 1 - d) * before(whole, i) + (d - whole) * before(whole + 1, i))
        return np.array(value)

    for x in xs:
        inputs.append(x)
        z = spikes[-1]
        v = clamp(p["beta"], 0, 1) * v - (threshold + (strength * a if adaptive else 0)) * z.real + \
            p["W"] @ delayed(inputs, "d", 0, o.get("input_delay", 0)) + p["W.bias"]
        if o.get("recurrent", True):
            v = v + p["R"] @ delayed(spikes, "e", 1, o.get("recurrent_delay", 0))
        if adaptive:
            rho = clamp(p["rho"], 0, 1)
            a = rho * a + (1 - rho) * z
        spikes.append(spike(v - threshold - (strength * a if adaptive else 0), o.get("surrogate", "fast_sigmoid"), o.get("slope", 25)))
        yield spikes[-1]
