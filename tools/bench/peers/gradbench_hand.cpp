// GradBench's `lstm` by hand: the objective and its adjoint as plain loops over the units, which the compiler
// vectorizes, including functions (-Ofast -march=native -fopenmp-simd). The number of units, BITS, is compiled
// in, rows are padded to whole vectors, and a run allocates nothing.
//
//     gradbench_hand LAYERS CHARACTERS RUNS < numbers > results
//
// Reads f64 numbers: main_params, extra_params, state, sequence. Writes the objective and its gradient
// with respect to main_params and extra_params, and to stderr the nanoseconds for both, one line per run.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int b = BITS;
constexpr int padded = (b + 7) / 8 * 8;
using Units = double[padded];

struct Layer {
  Units Wf, Wi, Wo, Wg, bf, bi, bo, bg;
};
struct Extra {
  Units w_in, w_out, b_out;
};
struct State {
  Units h, c;
};
struct Saved {  // the values of a layer at a step
  Units x, h, c, f, i, o, g, tanh_c;
};

/// h and c after a step, from h and c before it and `saved.x`.
void forward(const Layer& __restrict w, State& __restrict state, Saved& __restrict saved) {
#pragma omp simd
  for (int k = 0; k < padded; ++k) {
    const double* x = saved.x;
    saved.h[k] = state.h[k];
    saved.c[k] = state.c[k];
    saved.f[k] = 1 / (1 + std::exp(-(x[k] * w.Wf[k] + w.bf[k])));
    saved.i[k] = 1 / (1 + std::exp(-(state.h[k] * w.Wi[k] + w.bi[k])));
    saved.o[k] = 1 / (1 + std::exp(-(x[k] * w.Wo[k] + w.bo[k])));
    saved.g[k] = std::tanh(state.h[k] * w.Wg[k] + w.bg[k]);
    state.c[k] = state.c[k] * saved.f[k] + saved.i[k] * saved.g[k];
    saved.tanh_c[k] = std::tanh(state.c[k]);
    state.h[k] = saved.o[k] * saved.tanh_c[k];
  }
}

/// `d` holds the adjoints of h' and c' and receives those of h and c. Adds to those of the weights, and
/// writes that of x to `dx`.
void backward(const Layer& __restrict w, const Saved& __restrict s, State& __restrict d,
              Layer& __restrict grad, double* __restrict dx) {
#pragma omp simd
  for (int k = 0; k < padded; ++k) {
    const double dh = d.h[k], dc = d.c[k] + dh * s.o[k] * (1 - s.tanh_c[k] * s.tanh_c[k]);
    const double df = dc * s.c[k] * s.f[k] * (1 - s.f[k]), di = dc * s.g[k] * s.i[k] * (1 - s.i[k]);
    const double dout = dh * s.tanh_c[k] * s.o[k] * (1 - s.o[k]), dg = dc * s.i[k] * (1 - s.g[k] * s.g[k]);
    grad.Wf[k] += df * s.x[k];
    grad.Wi[k] += di * s.h[k];
    grad.Wo[k] += dout * s.x[k];
    grad.Wg[k] += dg * s.h[k];
    grad.bf[k] += df;
    grad.bi[k] += di;
    grad.bo[k] += dout;
    grad.bg[k] += dg;
    dx[k] = df * w.Wf[k] + dout * w.Wo[k];
    d.h[k] = di * w.Wi[k] + dg * w.Wg[k];
    d.c[k] = dc * s.f[k];
  }
}

/// Values from a step's part of the objective that the backward pass needs.
struct Score {
  Units x, next, top, exponentials;  // exponentials and next are zero beyond the units
  double ratio;                      // sum(next) / (2 + sum(exponentials))
};

struct Problem {
  int layers, steps;
  std::vector<Layer> main, grad_main;
  Extra extra, grad_extra;
  std::vector<State> initial, state;
  std::vector<double> sequence;
  std::vector<Saved> saved;  // [steps, layers]
  std::vector<Score> scores;

  double score(const double* __restrict h, Score& __restrict s) const {
    double exponentials = 2, ones = 0, score = 0;
#pragma omp simd reduction(+ : exponentials, ones, score)
    for (int k = 0; k < padded; ++k) {
      const double y = h[k] * extra.w_out[k] + extra.b_out[k];
      s.top[k] = h[k];
      s.exponentials[k] = k < b ? std::exp(y) : 0;
      exponentials += s.exponentials[k];
      ones += s.next[k];
      score += s.next[k] * y;
    }
    s.ratio = ones / exponentials;
    return score - ones * std::log(exponentials);
  }

  double run() {
    double total = 0;
    state = initial;
    for (int t = 0; t < steps; ++t) {
      Score& s = scores[t];
      Saved* layer = &saved[t * layers];
      std::copy_n(&sequence[t * b], b, s.x);
      std::copy_n(&sequence[(t + 1) * b], b, s.next);
      for (int k = 0; k < padded; ++k) layer[0].x[k] = s.x[k] * extra.w_in[k];
      for (int l = 0; l < layers; ++l) {
        if (l > 0) std::copy_n(state[l - 1].h, padded, layer[l].x);
        forward(main[l], state[l], layer[l]);
      }
      total += score(state[layers - 1].h, s);
    }
    return -total / (static_cast<double>(b) * steps);
  }

  void score_backward(const Score& __restrict s, double* __restrict dx) {
    const double scale = -1 / (static_cast<double>(b) * steps);
#pragma omp simd
    for (int k = 0; k < padded; ++k) {
      const double dy = scale * (s.next[k] - s.ratio * s.exponentials[k]);
      grad_extra.w_out[k] += dy * s.top[k];
      grad_extra.b_out[k] += dy;
      dx[k] = dy * extra.w_out[k];
    }
  }

  void run_backward() {
    std::fill(grad_main.begin(), grad_main.end(), Layer{});
    grad_extra = Extra{};
    std::fill(state.begin(), state.end(), State{});
    for (int t = steps - 1; t >= 0; --t) {
      Units dx;
      score_backward(scores[t], dx);
      for (int l = layers - 1; l >= 0; --l) {
        for (int k = 0; k < padded; ++k) state[l].h[k] += dx[k];
        backward(main[l], saved[t * layers + l], state[l], grad_main[l], dx);
      }
      for (int k = 0; k < padded; ++k) grad_extra.w_in[k] += dx[k] * scores[t].x[k];
    }
  }
};

/// Reads or writes `rows` rows of units, which are padded in memory.
void read(void* to, std::size_t rows) {
  for (std::size_t i = 0; i < rows; ++i) {
    if (std::fread(static_cast<double*>(to) + i * padded, sizeof(double), b, stdin) == b) continue;
    std::fputs("gradbench_hand: the input ends early\n", stderr);
    std::exit(2);
  }
}
void write(const void* from, std::size_t rows) {
  for (std::size_t i = 0; i < rows; ++i)
    std::fwrite(static_cast<const double*>(from) + i * padded, sizeof(double), b, stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  Problem p{};
  p.layers = std::atoi(argv[1]);
  const int characters = std::atoi(argv[2]), runs = std::atoi(argv[3]);
  p.steps = characters - 1;
  p.main.resize(p.layers);
  p.grad_main.resize(p.layers);
  p.initial.resize(p.layers);
  p.sequence.resize(static_cast<std::size_t>(characters) * b);
  p.saved.resize(static_cast<std::size_t>(p.steps) * p.layers);
  p.scores.resize(p.steps);
  read(p.main.data(), 8 * p.main.size());
  read(&p.extra, 3);
  read(p.initial.data(), 2 * p.initial.size());
  if (std::fread(p.sequence.data(), sizeof(double), p.sequence.size(), stdin) != p.sequence.size()) return 2;
  double objective = 0;
  for (int run = 0; run <= runs; ++run) {  // the first is not timed
    const auto begin = std::chrono::steady_clock::now();
    objective = p.run();
    p.run_backward();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    if (run > 0) std::fprintf(stderr, "%.0f\n", took.count());
  }
  std::fwrite(&objective, sizeof objective, 1, stdout);
  write(p.grad_main.data(), 8 * p.grad_main.size());
  write(&p.grad_extra, 3);
  return 0;
}
