"""Cells of papers as a reader of the documents wrote them: equations beside one step in NumPy.

A step gets the weights w, the states s, the input x and, for what lies further back, past(name, steps)."""

import numpy as np
import pytest

import lagtape as lt

CELLS = {}


def written(**cell):
    def add(step):
        CELLS[step.__name__] = cell, step
        return step

    return add


def each(names, shape):
    return {name: shape for name in names.split()}


def sg(a):
    return 1 / (1 + np.exp(-a))


def relu(a):
    return np.maximum(a, 0)


def pre(w, s, x, c):
    return w["W_" + c] @ x + w["R_" + c] @ s["h"] + w["b_" + c]


def softmax(a):
    return np.exp(a) / np.exp(a).sum()


def expm(a):
    """Of small matrices, by the series."""
    result = np.eye(len(a))
    for k in range(30, 0, -1):
        result = np.eye(len(a)) + a @ result / k
    return result


@written(weights={**each("W_i W_f W_o W_g", ["units", "input"]), **each("R_i R_f R_o R_g", ["units", "units"]), **each("b_i b_f b_o b_g p_i p_f p_o",
                 "units")}, state={"h": "units", "c": "units"},
         step=["i = sigmoid(W_i @ x + R_i @ h + b_i + p_i * c)", "f = sigmoid(W_f @ x + R_f @ h + b_f + p_f * c)",
              "c' = f * c + i * tanh(W_g @ x + R_g @ h + b_g)", "h' = sigmoid(W_o @ x + R_o @ h + b_o + p_o * c') * tanh(c')"], output="h'")
def peephole_lstm(w, s, x, past):
    i = sg(pre(w, s, x, "i") + w["p_i"] * s["c"])
    f = sg(pre(w, s, x, "f") + w["p_f"] * s["c"])
    c = f * s["c"] + i * np.tanh(pre(w, s, x, "g"))
    h = sg(pre(w, s, x, "o") + w["p_o"] * c) * np.tanh(c)
    return {"h": h, "c": c}, h

@written(weights={**each("W_f W_h", ["units", "input"]), **each("R_f R_h", ["units", "units"]), **each("b_f b_h", "units")}, state={"h": "units"},
         step=["f = sigmoid(W_f @ x + R_f @ h + b_f)", "h' = (1 - f) * h + f * tanh(W_h @ x + R_h @ (f * h) + b_h)"], output="h'")
def mgu(w, s, x, past):
    f = sg(pre(w, s, x, "f"))
    h = (1 - f) * s["h"] + f * np.tanh(w["W_h"] @ x + w["R_h"] @ (f * s["h"]) + w["b_h"])
    return {"h": h}, h

@written(weights={**each("W W_f W_r P", ["units", "input"]), **each("v_f v_r b_f b_r", "units")}, state={"c": "units"},
         step=["f = sigmoid(W_f @ x + v_f * c + b_f)", "r = sigmoid(W_r @ x + v_r * c + b_r)", "c' = f * c + (1 - f) * (W @ x)"],
         output="r * c' + (1 - r) * (P @ x)")
def sru(w, s, x, past):
    f = sg(w["W_f"] @ x + w["v_f"] * s["c"] + w["b_f"])
    r = sg(w["W_r"] @ x + w["v_r"] * s["c"] + w["b_r"])
    c = f * s["c"] + (1 - f) * (w["W"] @ x)
    return {"c": c}, r * c + (1 - r) * (w["P"] @ x)

@written(hyper={"dt": 0.05, "gamma": 2.7, "epsilon": 4.7},
         weights={**each("W K", ["units", "units"]), **each("V", ["units", "input"]), **each("b", "units")}, state={"y": "units", "z": "units"},
         step=["z' = z + dt * (tanh(W @ y + K @ z + V @ x + b) - gamma * y - epsilon * z)", "y' = y + dt * z'"], output="y'")
def cornn(w, s, x, past):
    z = s["z"] + 0.05 * (np.tanh(w["W"] @ s["y"] + w["K"] @ s["z"] + w["V"] @ x + w["b"]) - 2.7 * s["y"] - 4.7 * s["z"])
    y = s["y"] + 0.05 * z
    return {"y": y, "z": z}, y

@written(hyper={"dt": 0.1, "alpha": 0.5}, weights={**each("w c b", "units"), **each("V", ["units", "input"])}, state={"y": "units", "z": "units"},
         step=
              "d = dt * (0.5 + 0.5 * tanh(c / 2))  # the time of each unit\n z' = z - d * (tanh(w * y + V @ x + b) + alpha * y)\n y' = y + d * z'",
         output="y'")
def unicornn(w, s, x, past):
    d = 0.1 * (0.5 + 0.5 * np.tanh(w["c"] / 2))
    z = s["z"] - d * (np.tanh(w["w"] * s["y"] + w["V"] @ x + w["b"]) + 0.5 * s["y"])
    y = s["y"] + d * z
    return {"y": y, "z": z}, y

@written(hyper={"dt": 0.5},
         weights={**each("W_1 W_2 W_y W_z", ["units", "input"]), **each("R_1 R_2 R_y R_z", ["units", "units"]), **each("b_1 b_2 b_y b_z", "units")},
         state={"h": "units", "z": "units"},
         step=["d1 = dt * sigmoid(W_1 @ x + R_1 @ h + b_1)", "d2 = dt * sigmoid(W_2 @ x + R_2 @ h + b_2)",
              "z' = (1 - d1) * z + d1 * tanh(W_y @ x + R_y @ h + b_y)", "h' = (1 - d2) * h + d2 * tanh(R_z @ z' + W_z @ x + b_z)"],
         output="h'")
def lem(w, s, x, past):
    a = 0.5 * sg(pre(w, s, x, "1"))
    b = 0.5 * sg(pre(w, s, x, "2"))
    z = (1 - a) * s["z"] + a * np.tanh(pre(w, s, x, "y"))
    h = (1 - b) * s["h"] + b * np.tanh(w["R_z"] @ z + w["W_z"] @ x + w["b_z"])
    return {"h": h, "z": z}, h

@written(hyper={"tau": 2},
         weights={**each("W1 W2 W3 W4", ["units", "units"]), **each("U1 U2 U3 U4", ["units", "input"]), **each("b1 b2 b3 b4", "units")},
         state={"h": "units"},
         step=["u = tanh(W1 @ h + U1 @ x + b1)", "z = tanh(W2 @ h[-tau] + U2 @ x + b2)", "g = sigmoid(W3 @ h + U3 @ x + b3)",
              "a = sigmoid(W4 @ h + U4 @ x + b4)", "h' = (1 - g) * h + g * (u + a * z)"], output="h'")
def tau_gru(w, s, x, past):
    lag = past("h", 2)
    q = lambda k, h: w[f"W{k}"] @ h + w[f"U{k}"] @ x + w[f"b{k}"]
    h = s["h"]
    u = np.tanh(q(1, h))
    z = np.tanh(q(2, lag))
    gg = sg(q(3, h))
    a = sg(q(4, h))
    n = (1 - gg) * h + gg * (u + a * z)
    return {"h": n}, n

@written(weights={**each("A", ["units * (units - 1) / 2"]), **each("V", ["units", "input"]), **each("b", "units")},
         derived={"Q": "expm(strict_upper(A, units) - strict_upper(A, units).T)"}, state={"h": "units"},
         step="z = Q @ h + V @ x\nh' = sign(z) * relu(abs(z) + b)", output="h'")
def exp_rnn(w, s, x, past):
    M = np.zeros((4, 4))
    M[np.triu_indices(4, 1)] = w["A"]
    z = expm(M - M.T) @ s["h"] + w["V"] @ x
    h = np.sign(z) * relu(abs(z) + w["b"])
    return {"h": h}, h

@written(hyper={"beta": 0.75, "ga": 0.001, "eps": 0.03},
         weights={**each("M N", ["units", "units"]), **each("Ux", ["units", "input"]), **each("b", "units")},
         functions={"frame": ["M", "S = M + M.T", "K = M - M.T", "(1 - beta) * S + beta * K - ga * eye(units)"]},
         derived={"A": "frame(M)", "W": "frame(N)"}, state={"h": "units"}, step="h' = h + eps * (A @ h + tanh(W @ h + Ux @ x + b))", output="h'")
def lipschitz(w, s, x, past):
    F = lambda M: 0.25 * (M + M.T) + 0.75 * (M - M.T) - 0.001 * np.eye(4)
    h = s["h"] + 0.03 * (F(w["M"]) @ s["h"] + np.tanh(F(w["N"]) @ s["h"] + w["Ux"] @ x + w["b"]))
    return {"h": h}, h

@written(hyper={"rank": 2},
         weights={**each("W", ["units", "input"]), **each("U1", ["units", "rank"]), **each("U2", ["rank", "units"]), **each("b_z b_h",
                 "units"), **each("zeta nu", [])}, state={"h": "units"},
         step=["a = W @ x + U1 @ (U2 @ h)", "z = sigmoid(a + b_z)", "h' = (sigmoid(zeta) * (1 - z) + sigmoid(nu)) * tanh(a + b_h) + z * h"],
         output="h'")
def fast_grnn(w, s, x, past):
    a = w["W"] @ x + w["U1"] @ (w["U2"] @ s["h"])
    z = sg(a + w["b_z"])
    h = (sg(w["zeta"]) * (1 - z) + sg(w["nu"])) * np.tanh(a + w["b_h"]) + z * s["h"]
    return {"h": h}, h

@written(weights={**each("Z0 Z1 F0 F1 O0 O1", ["units", "input"])}, state={"c": "units"},
         step=["z = tanh(Z0 @ x + Z1 @ x[-1])", "f = sigmoid(F0 @ x + F1 @ x[-1])", "o = sigmoid(O0 @ x + O1 @ x[-1])", "c' = f * c + (1 - f) * z"],
         output="o * c'")
def qrnn(w, s, x, past):
    p = past("x", 1)
    z = np.tanh(w["Z0"] @ x + w["Z1"] @ p)
    f = sg(w["F0"] @ x + w["F1"] @ p)
    o = sg(w["O0"] @ x + w["O1"] @ p)
    c = f * s["c"] + (1 - f) * z
    return {"c": c}, o * c

@written(hyper={"heads": 2}, weights={**each("Q K V G", ["units", "input"]), **each("O", ["units", "units"])},
         constants={"gamma": [0.96875, 0.984375]}, functions={"split": ["a", "reshape(a, heads, -1)"]},
         state={"S": ["heads", "units / heads", "units / heads"]},
         step=["S' = gamma[:, None, None] * S + split(K @ x)[:, :, None] * split(V @ x)[:, None, :]", "y = einsum('hi,hij->hj', split(Q @ x), S')",
              "y_n = (y - mean(y, 1)[:, None]) / sqrt(mean((y - mean(y, 1)[:, None]) ** 2, 1) + 1e-5)[:, None]"],
         output="O @ (silu(G @ x) * reshape(y_n, -1))")
def retnet(w, s, x, past):
    q, k, v = ((w[n] @ x).reshape(2, -1) for n in "QKV")
    S = np.array([0.96875, 0.984375])[:, None, None] * s["S"] + k[:, :, None] * v[:, None, :]
    y = np.einsum("hi,hij->hj", q, S)
    m = y.mean(1, keepdims=True)
    y = (y - m) / np.sqrt(((y - m) ** 2).mean(1, keepdims=True) + 1e-05)
    return {"S": S}, w["O"] @ ((w["G"] @ x) * sg(w["G"] @ x) * y.ravel())

@written(hyper={"heads": 2, "tau": 16},
         weights={**each("Q K V", ["units", "input"]), **each("A1", [2, "input"]), **each("A2", ["units", 2]), **each("b", "units")},
         functions={"split": ["a", "reshape(a, heads, units / heads)"]}, state={"S": ["heads", "units / heads", "units / heads"]},
         step=["alpha = split(sigmoid(A2 @ (A1 @ x) + b) ** (1 / tau))",
              "S' = alpha[..., None] * S + split(K @ x)[..., None] * split(V @ x)[:, None]"],
         output="reshape(einsum('hi,hij->hj', split(Q @ x), S'), -1)")
def gla(w, s, x, past):
    q, k, v = ((w[n] @ x).reshape(2, -1) for n in "QKV")
    a = (sg(w["A2"] @ (w["A1"] @ x) + w["b"]) ** (1 / 16)).reshape(2, -1)
    S = a[..., None] * s["S"] + k[..., None] * v[:, None]
    return {"S": S}, np.einsum("hi,hij->hj", q, S).ravel()

@written(weights={**each("mu_r mu_k mu_v", "input"), **each("R K V", ["units", "input"]), **each("O", ["units", "units"]), **each("w u", "units")},
         state={"a": "units", "b": "units", "p": "units"}, functions={"mix": ["mu", "mu * x + (1 - mu) * x[-1]"]},
         step=["r = sigmoid(R @ (mu_r * x + (1 - mu_r) * x[-1]))", "k = K @ (mu_k * x + (1 - mu_k) * x[-1])", "v = V @ mix(mu_v)",
              "q = maximum(p, u + k)", "e = exp(p - q)", "f = exp(u + k - q)", "wkv = (e * a + f * v) / (e * b + f)", "p' = maximum(p - exp(w), k)",
              "e2 = exp(p - exp(w) - p')", "f2 = exp(k - p')", "a' = e2 * a + f2 * v", "b' = e2 * b + f2"], output="O @ (r * wkv)")
def rwkv4_time_mix(w, s, x, past):
    xp = past("x", 1)
    m = lambda c: w["mu_" + c] * x + (1 - w["mu_" + c]) * xp
    r = sg(w["R"] @ m("r"))
    k = w["K"] @ m("k")
    v = w["V"] @ m("v")
    q = np.maximum(s["p"], w["u"] + k)
    e = np.exp(s["p"] - q)
    f = np.exp(w["u"] + k - q)
    y = (e * s["a"] + f * v) / (e * s["b"] + f)
    p = np.maximum(s["p"] - np.exp(w["w"]), k)
    e2 = np.exp(s["p"] - np.exp(w["w"]) - p)
    f2 = np.exp(k - p)
    return {"a": e2 * s["a"] + f2 * v, "b": e2 * s["b"] + f2, "p": p}, w["O"] @ (r * y)

@written(hyper={"N": 3}, weights={**each("P", ["units", "input"]), **each("log_dt D", "units"), **each("re im C_re C_im", ["units", "N"])},
         state={"a": ["units", "N"], "b": ["units", "N"]},
         step=["u = P @ x", "A = complex(-exp(re), im)", "dA = exp(exp(log_dt)[:, None] * A)", "s = dA * complex(a, b) + (dA - 1) / A * u[:, None]",
              "a' = real(s)", "b' = imag(s)"], output="2 * real(sum(complex(C_re, C_im) * s, 1)) + D * u")
def s4d(w, s, x, past):
    u = w["P"] @ x
    A = -np.exp(w["re"]) + 1j * w["im"]
    dA = np.exp(np.exp(w["log_dt"])[:, None] * A)
    z = dA * (s["a"] + 1j * s["b"]) + (dA - 1) / A * u[:, None]
    return {"a": z.real, "b": z.imag}, 2 * ((w["C_re"] + 1j * w["C_im"]) * z).sum(1).real + w["D"] * u

@written(hyper={"N": 3}, weights={**each("P", ["units", "input"]), **each("log_dt", "units"), **each("re im C_re C_im", ["units", "N"])},
         functions={"pole": ["re", "im", "exp(exp(log_dt)[:, None] * complex(-exp(re), im))"]},
         derived={"L_re": "real(pole(re, im))", "L_im": "imag(pole(re, im))"}, state={"a": ["units", "N"], "b": ["units", "N"]},
         step=["u = P @ x", "s = complex(L_re, L_im) * complex(a, b) + u[:, None]", "a' = real(s)", "b' = imag(s)"],
         output="real(sum(complex(C_re, C_im) * s, 1))")
def s4d_derived(w, s, x, past):
    u = w["P"] @ x
    dA = np.exp(np.exp(w["log_dt"])[:, None] * (-np.exp(w["re"]) + 1j * w["im"]))
    z = dA * (s["a"] + 1j * s["b"]) + u[:, None]
    return {"a": z.real, "b": z.imag}, ((w["C_re"] + 1j * w["C_im"]) * z).sum(1).real

@written(weights={**each("Q K V", ["units", "input"])}, functions={"phi": ["a", "where(a > 0, a + 1, exp(a))"]},
         state={"S": ["units", "units"], "z": "units"}, step=["k = phi(K @ x)", "q = phi(Q @ x)", "S' = S + outer(V @ x, k)", "z' = z + k"],
         output="S' @ q / (z' @ q + 1e-6)")
def linear_attention(w, s, x, past):
    ph = lambda a: np.where(a > 0, a + 1, np.exp(a))
    k = ph(w["K"] @ x)
    q = ph(w["Q"] @ x)
    S = s["S"] + np.outer(w["V"] @ x, k)
    z = s["z"] + k
    return {"S": S, "z": z}, S @ q / (z @ q + 1e-06)

@written(weights={**each("Q K V", ["units", "input"]), **each("B", [1, "input"])}, state={"S": ["units", "units"]},
         step=["k = softmax(K @ x)", "beta = sigmoid(B @ x)", "S' = S + beta * outer(V @ x - S @ k, k)"], output="S' @ softmax(Q @ x)")
def delta_rule(w, s, x, past):
    k = softmax(w["K"] @ x)
    S = s["S"] + sg(w["B"] @ x) * np.outer(w["V"] @ x - s["S"] @ k, k)
    return {"S": S}, S @ softmax(w["Q"] @ x)

@written(weights={**each("P T", ["units", "input"]), **each("B Q", [2, "input"])}, state={"S": ["units", 2]},
         step=["u = P @ x", "k = B @ x", "b = sigmoid(T @ x)", "eps = b[:, None] / (1 + b[:, None] * sum(k ** 2))",
              "S' = (1 - eps * k ** 2) * S + eps * outer(u, k)"], output="S' @ (Q @ x)")
def longhorn(w, s, x, past):
    u = w["P"] @ x
    k = w["B"] @ x
    b = sg(w["T"] @ x)
    e = b[:, None] / (1 + b[:, None] * (k ** 2).sum())
    S = (1 - e * k ** 2) * s["S"] + e * np.outer(u, k)
    return {"S": S}, S @ (w["Q"] @ x)

@written(weights={**each("R K V W A", ["units", "input"]), **each("xi", "units")}, state={"S": ["units", "units"]},
         step=["k = K @ x", "a = sigmoid(A @ x)", "w = exp(-0.606531 * sigmoid(W @ x))", "kappa = xi * k / sqrt(sum((xi * k) ** 2) + 1e-12)",
              "S' = S * w - outer(S @ kappa, a * kappa) + outer(V @ x, k)"], output="S' @ (R @ x)")
def rwkv7(w, s, x, past):
    k = w["K"] @ x
    a = sg(w["A"] @ x)
    d = np.exp(-0.606531 * sg(w["W"] @ x))
    q = w["xi"] * k
    q = q / np.sqrt((q ** 2).sum() + 1e-12)
    S = s["S"] * d - np.outer(s["S"] @ q, a * q) + np.outer(w["V"] @ x, k)
    return {"S": S}, S @ (w["R"] @ x)

@written(weights={**each("W_i W_f W_o W_h M_x", ["units", "input"]), **each("R_i R_f R_o R_h M_h", ["units", "units"]), **each("b_i b_f b_o b_h",
                 "units")}, state={"h": "units", "c": "units"},
         step=["m = (M_x @ x) * (M_h @ h)", "i_ = W_i @ x + R_i @ m + b_i", "f_ = W_f @ x + R_f @ m + b_f", "o_ = W_o @ x + R_o @ m + b_o",
              "h_ = W_h @ x + R_h @ m + b_h", "c' = sigmoid(f_) * c + sigmoid(i_) * tanh(h_)", "h' = sigmoid(o_) * tanh(c')"], output="h'")
def mlstm_krause(w, s, x, past):
    m = w["M_x"] @ x * (w["M_h"] @ s["h"])
    q = lambda c: w["W_" + c] @ x + w["R_" + c] @ m + w["b_" + c]
    c = sg(q("f")) * s["c"] + sg(q("i")) * np.tanh(q("h"))
    h = sg(q("o")) * np.tanh(c)
    return {"h": h, "c": c}, h

@written(hyper={"d": 3, "theta": 8},
         weights={**each("e_x", "input"), **each("e_h", "units"), **each("e_m", "d"), **each("W_x", ["units", "input"]), **each("W_h", ["units",
                 "units"]), **each("W_m", ["units", "d"])}, constants={"A": [[-1, -1, -1], [3, -3, -3], [-5, 5, -5]], "B": [1, -3, 5]},
         derived={"Ad": "expm(A / theta)"}, state={"h": "units", "m": "d"},
         step=["u = e_x @ x + e_h @ h + e_m @ m", "m' = Ad @ m + B / theta * u", "h' = tanh(W_x @ x + W_h @ h + W_m @ m')"], output="h'")
def lmu(w, s, x, past):
    A = np.array([[-1, -1, -1], [3, -3, -3], [-5, 5, -5.0]])
    u = w["e_x"] @ x + w["e_h"] @ s["h"] + w["e_m"] @ s["m"]
    m = expm(A / 8) @ s["m"] + np.array([1, -3, 5]) / 8 * u
    h = np.tanh(w["W_x"] @ x + w["W_h"] @ s["h"] + w["W_m"] @ m)
    return {"h": h, "m": m}, h

@written(hyper={"alpha": 0.9, "rho": 0.95},
         weights={**each("W", ["units", "input"]), **each("V", ["units", "units"]), **each("theta", []), **each("slow", "units")}, lags={"theta": 4},
         state={"v": "units", "z": "units", "b": "units"},
         step=["b' = rho * b + (1 - rho) * stop(z)", "v' = alpha * v + W @ x[-2] + V @ z[-theta] - stop(z) * (1 + 1.8 * b')",
              "z' = spike(v' - 1 - 1.8 * b', 'fast_sigmoid', 10)"], output="z' + slow * v'")
def alif_delays(w, s, x, past):
    b = 0.95 * s["b"] + 0.05 * s["z"]
    th = float(w["theta"])
    k = int(np.floor(th))
    f = th - k
    zl = (1 - f) * past("z", k) + f * past("z", k + 1)
    v = 0.9 * s["v"] + w["W"] @ past("x", 2) + w["V"] @ zl - s["z"] * (1 + 1.8 * b)
    z = 1.0 * (v - 1 - 1.8 * b > 0)
    return {"v": v, "z": z, "b": b}, z + w["slow"] * v

@written(hyper={"heads": 2}, weights={**each("R_z R_i R_f R_o", ["heads", 2, 2]), **each("W_z W_i W_f W_o", ["units", "input"])},
         state={"c": ["heads", "units / heads"], "nu": ["heads", "units / heads"], "h": ["heads", "units / heads"], "m": ["heads", "units / heads"]},
         functions={"pre": ["W", "R", "reshape(W @ x, heads, -1) + einsum('gij,gj->gi', R, h)"]},
         step=["z = tanh(pre(W_z, R_z))", "i = pre(W_i, R_i)", "f = pre(W_f, R_f)", "o = sigmoid(pre(W_o, R_o))", "m' = maximum(f + m, i)",
              "c' = exp(f + m - m') * c + exp(i - m') * z", "nu' = exp(f + m - m') * nu + exp(i - m')", "h' = o * c' / nu'"],
         output="reshape(h', -1)")
def slstm_block(w, s, x, past):
    p = lambda c: (w["W_" + c] @ x).reshape(2, -1) + np.einsum("gij,gj->gi", w["R_" + c], s["h"])
    z = np.tanh(p("z"))
    i = p("i")
    f = p("f")
    o = sg(p("o"))
    m = np.maximum(f + s["m"], i)
    c = np.exp(f + s["m"] - m) * s["c"] + np.exp(i - m) * z
    nu = np.exp(f + s["m"] - m) * s["nu"] + np.exp(i - m)
    h = o * c / nu
    return {"c": c, "nu": nu, "h": h, "m": m}, h.ravel()

@written(weights={**each("X", ["2 * units", "units"]), **each("P", ["units", "input"])}, state={"h": "units"},
         step=["s = h + P @ x", "for k in range(3): s = X.T @ softmax(2 * (X @ s))", "h' = s"], output="h'")
def hopfield_iter(w, s, x, past):
    h = s["h"] + w["P"] @ x
    for _ in range(3):
        h = w["X"].T @ softmax(2 * (w["X"] @ h))
    return {"h": h}, h

@written(weights={**each("om", "units"), **each("B C", ["units", "input"]), **each("Wr Wi", ["units", "units"])}, state={"a": "units", "b": "units"},
         step=["z = exp(1j * om) * complex(a, b) + complex(B, C) @ x", "r = abs(z)", "z2 = relu(r - 0.1) * z / (r + 1e-3)", "a' = real(z2)",
              "b' = imag(z2)"], output="real(complex(Wr, Wi) @ conj(z2))")
def unitary_complex(w, s, x, past):
    z = np.exp(1j * w["om"]) * (s["a"] + 1j * s["b"]) + (w["B"] + 1j * w["C"]) @ x
    r = abs(z)
    z = relu(r - 0.1) * z / (r + 0.001)
    return {"a": z.real, "b": z.imag}, ((w["Wr"] + 1j * w["Wi"]) @ z.conj()).real

@written(hyper={"heads": 2, "N": 3},
         weights={**each("P", ["units", "input"]), **each("D", ["heads", "input"]), **each("A dt_b", "heads"), **each("B C", ["N", "input"])},
         state={"S": ["heads", "units / heads", "N"]},
         step=["dt = softplus(D @ x + dt_b)",
              "S' = exp(-dt * exp(A))[:, None, None] * S + (dt[:, None] * reshape(P @ x, heads, -1))[..., None] * (B @ x)"],
         output="reshape(S' @ (C @ x), -1)")
def ssd_scalar(w, s, x, past):
    dt = np.log1p(np.exp(w["D"] @ x + w["dt_b"]))
    S = np.exp(-dt * np.exp(w["A"]))[:, None, None] * s["S"] + (dt[:, None] * (w["P"] @ x).reshape(2, -1))[..., None] * (w["B"] @ x)
    return {"S": S}, (S @ (w["C"] @ x)).ravel()


def sized(shape, hyper):
    sizes = {"units": 4, "input": 3, **hyper}
    return tuple(int(eval(str(one), {}, sizes)) for one in (shape if isinstance(shape, list) else [shape]))


def stepped(cell, step, weights, xs):
    zeros = {name: np.zeros(sized(shape, cell.get("hyper", {}))) for name, shape in cell["state"].items()}
    before, outputs = [zeros], []
    for n, x in enumerate(xs):
        def past(name, steps, n=n):
            if name == "x":
                return xs[n - steps] if n >= steps else 0 * xs[0]
            return (before[n - steps] if n >= steps else zeros)[name]

        states, y = step(weights, before[-1], x, past)
        before.append(states)
        outputs.append(np.ravel(y))
    return np.array(outputs)


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in ("retnet", "alif_delays") else pytest.mark.slow) for name in CELLS])
def test_equations_give_what_numpy_gives(name, tmp_path):
    cell, step = CELLS[name]
    run = lt.train({
        "name": "cell", "seed": 3,
        "data": {"task": "random", "length": 20, "input": 3, "output": 4, "every_step": True, "train": 4, "valid": 0, "test": 0},
        "model": {"layers": [{"cell": "own", "units": 4}], "readout": "none"}, "cells": {"own": cell}, "loss": "mse",
        "optimizer": {"type": "sgd", "lr": 1e-3}, "train": {"epochs": 1, "batch": 4, "precision": "f64"}}, out=tmp_path / "run")
    weights, groups = {}, {}
    for key, value in run.model().parameters.items():
        key = key.removeprefix("layers.0.")
        group, _, number = key.rpartition(".")
        if number.isdigit():
            groups.setdefault(group, []).append(value)
        else:
            weights[key] = value
    weights.update({group: np.stack(parts) for group, parts in groups.items()})
    x = np.random.default_rng(5).normal(size=(12, 3))
    expected = stepped(cell, step, weights, x)
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(run.model().predict(x), expected, rtol=1e-11, atol=1e-12)
