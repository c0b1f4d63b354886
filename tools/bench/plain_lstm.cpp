#include <algorithm>
#include <bit>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/random.h"
#include "lagtape/tools/bench/onednn_lstm.h"

namespace lagtape::bench {

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

std::vector<float> uniform(std::int64_t count, double range, std::uint64_t stream_number) {
  RandomStream stream(1, stream_number);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(range * (2 * stream.next_uniform() - 1));
  return values;
}

/// Runs one row of a batch through time, forward and then backward, and sums the gradients of the weights in
/// f64.
struct PlainRow {
  const LstmSizes& s;
  const LstmValues& v;
  std::int64_t row;
  std::vector<double> gates;  // [T, 4, units], after the activation functions
  std::vector<double> c, h;   // [T + 1, units], zeros first

  PlainRow(const LstmSizes& sizes, const LstmValues& values, std::int64_t row_number)
      : s(sizes),
        v(values),
        row(row_number),
        gates(s.steps * 4 * s.units),
        c((s.steps + 1) * s.units),
        h(c) {}

  const float* x(std::int64_t t) const { return v.x.data() + (t * s.batch + row) * s.input; }

  void forward() {
    for (std::int64_t t = 0; t < s.steps; ++t) {
      double* a = gates.data() + t * 4 * s.units;
      for (std::int64_t k = 0; k < 4 * s.units; ++k) {
        double sum = v.bias[k];
        for (std::int64_t i = 0; i < s.input; ++i) sum += double{x(t)[i]} * v.w_input[i * 4 * s.units + k];
        for (std::int64_t i = 0; i < s.units; ++i) sum += h[t * s.units + i] * v.w_state[i * 4 * s.units + k];
        a[k] = k / s.units == 2 ? std::tanh(sum) : sigmoid(sum);
      }
      for (std::int64_t j = 0; j < s.units; ++j) {
        const double cell = a[s.units + j] * c[t * s.units + j] + a[j] * a[2 * s.units + j];
        c[(t + 1) * s.units + j] = cell;
        h[(t + 1) * s.units + j] = a[3 * s.units + j] * std::tanh(cell);
      }
    }
  }

  template <class Sum>
  void backward(std::vector<double>& grad_x, Sum& sums) {
    std::vector<double> dh(s.units), dc(s.units), d(4 * s.units);
    for (std::int64_t t = s.steps - 1; t >= 0; --t) {
      const double* a = gates.data() + t * 4 * s.units;
      for (std::int64_t j = 0; j < s.units; ++j) {
        const double i = a[j], f = a[s.units + j], g = a[2 * s.units + j], o = a[3 * s.units + j];
        const double tanh_c = std::tanh(c[(t + 1) * s.units + j]);
        const double dh_j = dh[j] + v.grad_h[(t * s.batch + row) * s.units + j];
        const double dc_j = dc[j] + dh_j * o * (1 - tanh_c * tanh_c);
        d[j] = dc_j * g * i * (1 - i);
        d[s.units + j] = dc_j * c[t * s.units + j] * f * (1 - f);
        d[2 * s.units + j] = dc_j * i * (1 - g * g);
        d[3 * s.units + j] = dh_j * tanh_c * o * (1 - o);
        dc[j] = dc_j * f;
      }
      std::fill(dh.begin(), dh.end(), 0);
      for (std::int64_t k = 0; k < 4 * s.units; ++k) {
        for (std::int64_t i = 0; i < s.input; ++i) {
          grad_x[(t * s.batch + row) * s.input + i] += d[k] * v.w_input[i * 4 * s.units + k];
          sums.w_input[i * 4 * s.units + k] += d[k] * x(t)[i];
        }
        for (std::int64_t i = 0; i < s.units; ++i) {
          dh[i] += d[k] * v.w_state[i * 4 * s.units + k];
          sums.w_state[i * 4 * s.units + k] += d[k] * h[t * s.units + i];
        }
        sums.bias[k] += d[k];
      }
    }
  }
};

std::vector<float> rounded(const std::vector<double>& values) { return {values.begin(), values.end()}; }

/// The largest difference relative to the largest entry.
double difference(const std::vector<float>& found, const std::vector<float>& expected) {
  double largest = 0, scale = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(double{found[i]} - expected[i]));
    scale = std::max(scale, std::abs(double{expected[i]}));
  }
  return scale > 0 && std::isfinite(largest) ? largest / scale : INFINITY;
}

}  // namespace

LstmValues random_values(const LstmSizes& s) {
  const double range = 1 / std::sqrt(static_cast<double>(s.units));
  return {.x = uniform(s.steps * s.batch * s.input, 1, 1),
          .w_input = uniform(s.input * 4 * s.units, range, 2),
          .w_state = uniform(s.units * 4 * s.units, range, 3),
          .bias = uniform(4 * s.units, range, 4),
          .grad_h = uniform(s.steps * s.batch * s.units, 1, 5)};
}

LstmResults plain_lstm(const LstmSizes& s, const LstmValues& values) {
  struct {
    std::vector<double> w_input, w_state, bias;
  } sums{std::vector<double>(values.w_input.size()), std::vector<double>(values.w_state.size()),
         std::vector<double>(values.bias.size())};
  std::vector<double> grad_x(values.x.size());
  LstmResults results;
  results.h.resize(values.grad_h.size());
  for (std::int64_t row = 0; row < s.batch; ++row) {
    PlainRow plain(s, values, row);
    plain.forward();
    plain.backward(grad_x, sums);
    for (std::int64_t t = 0; t < s.steps; ++t) {
      const auto from = plain.h.begin() + (t + 1) * s.units;
      std::copy(from, from + s.units, results.h.begin() + (t * s.batch + row) * s.units);
    }
  }
  results.grad_x = rounded(grad_x);
  results.grad_w_input = rounded(sums.w_input);
  results.grad_w_state = rounded(sums.w_state);
  results.grad_bias = rounded(sums.bias);
  return results;
}

namespace {

/// The nearest bf16 number; of two equally near, the even one.
void round_to_bf16(std::vector<float>& numbers) {
  for (float& number : numbers) {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    number = std::bit_cast<float>((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000);
  }
}

}  // namespace

void check_onednn_lstm(const LstmSizes& sizes, int threads, LstmPrecision precision) {
  constexpr std::int64_t kSteps = 6, kRows = 3;
  const double tolerance = precision == LstmPrecision::f32 ? 1e-4 : 0.02;
  const LstmSizes few{kSteps, kRows, sizes.input, sizes.units};
  LstmValues values = random_values(few);
  if (precision == LstmPrecision::bf16) {
    for (auto* rounded : {&values.x, &values.w_input, &values.w_state}) round_to_bf16(*rounded);
  }
  OnednnLstm lstm(few, values, precision);
  lstm.run(threads);
  lstm.run(threads);  // a second run must not add to the first
  const LstmResults found = lstm.results(), expected = plain_lstm(few, values);
  const auto require = [&](const char* name, const std::vector<float>& a, const std::vector<float>& b) {
    const double off = difference(a, b);
    if (!(off <= tolerance))
      throw Error(text_of("[bench] oneDNN's LSTM differs from the plain loops in ", name, " by ", off, "."));
  };
  require("h", found.h, expected.h);
  require("the gradient of x", found.grad_x, expected.grad_x);
  require("the gradient of the input weights", found.grad_w_input, expected.grad_w_input);
  require("the gradient of the state weights", found.grad_w_state, expected.grad_w_state);
  require("the gradient of the bias", found.grad_bias, expected.grad_bias);
}

}  // namespace lagtape::bench
