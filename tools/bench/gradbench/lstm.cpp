// GradBench's `lstm`, originally from ADBench, in lagtape: its objective and gradient.
//
//     lagtape_gradbench FILE objective|jacobian
//
// FILE is the benchmark's JSON input: main_params [2 l, 4 b], extra_params [3, b], state [2 l, b], sequence
// [c, b], min_runs, min_seconds. Like GradBench's C++ programs, this one prints the result, then a line for
// each timed run. The l layers are recurrences of b units without matrices, in f64:
//
//     f = sigmoid(x * Wf + bf)    i = sigmoid(h * Wi + bi)    o = sigmoid(x * Wo + bo)    g = tanh(h * Wg + bg)
//     c' = c * f + i * g          h' = o * tanh(c')
//
// where x is the character's bits times a weight, or h' of the layer below. The objective is -1 / (b (c - 1))
// times the sum of bits[n + 1] * (y[n] - log(2 + sum(exp(y[n])))), where y is affine in the top layer's h'.

#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/core/io/json_file.h"
#include "lagtape/core/json/json.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/thread_pool.h"
#include "lagtape/ops/recurrence/equations/equations.h"
#include "lagtape/ops/recurrence/held_sequence.h"
#include "lagtape/ops/recurrence/sequence.h"

namespace lagtape {
namespace {

constexpr std::int64_t kGates = 4;

/// The numbers of a matrix, row by row, and its sizes.
struct Rows {
  std::vector<double> numbers;
  std::int64_t rows = 0, columns = 0;

  Tensor tensor(Shape shape, std::int64_t first = 0) const {
    const std::span<const double> all(numbers);
    return Tensor::from(shape, all.subspan(first, element_count(shape)), Dtype::f64);
  }
};

Rows read_rows(const Json& input, const char* name) {
  Rows all;
  for (const auto& row : input.at(name).get<std::vector<std::vector<double>>>()) {
    all.numbers.insert(all.numbers.end(), row.begin(), row.end());
    all.columns = static_cast<std::int64_t>(row.size());
    ++all.rows;
  }
  return all;
}

/// The layers, the read-out and a step's contribution to the objective, as one step. Its input is a character's
/// bits followed by the next character's.
EquationCell benchmark_cell(std::int64_t layers) {
  EquationCell cell;
  std::string below = "x_in";
  cell.step = {"x_in = slice(x, 0, units) * w_in", "next = slice(x, units, 2 * units)"};
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::string k = std::to_string(layer);
    for (const char* kind : {"W", "b"}) {
      for (const char* gate : {"f", "i", "o", "g"}) cell.weights.push_back({kind + (gate + k), {"units"}});
    }
    cell.states.push_back({"h" + k, {"units"}});
    cell.states.push_back({"c" + k, {"units"}});
    const auto gate = [&](const char* function, const char* name, const std::string& of) {
      const std::string g = name + k;
      cell.step.push_back(g + " = " + function + "(" + of + " * W" + g + " + b" + g + ")");
    };
    gate("sigmoid", "f", below);
    gate("sigmoid", "i", "h" + k);
    gate("sigmoid", "o", below);
    gate("tanh", "g", "h" + k);
    cell.step.push_back("c" + k + "' = c" + k + " * f" + k + " + i" + k + " * g" + k);
    cell.step.push_back("h" + k + "' = o" + k + " * tanh(c" + k + "')");
    below = "h" + k + "'";
  }
  for (const char* name : {"w_in", "w_out", "b_out"}) cell.weights.push_back({name, {"units"}});
  cell.step.push_back("y = " + below + " * w_out + b_out");
  cell.step.push_back("score = sum(next * y) - sum(next) * log(2 + sum(exp(y)))");
  cell.output = "score";
  return cell;
}

/// The objective with everything ready to run, on one thread.
class Benchmark {
 public:
  explicit Benchmark(const Json& input) {
    const Rows main = read_rows(input, "main_params"), extra = read_rows(input, "extra_params");
    const Rows state = read_rows(input, "state"), sequence = read_rows(input, "sequence");
    const std::int64_t layers = main.rows / 2, units = extra.columns, steps = sequence.rows - 1;
    if (layers < 1 || steps < 1 || main.columns != kGates * units || extra.rows != 3 ||
        state.rows != 2 * layers || state.columns != units || sequence.columns != units)
      throw InputError({}, Rule::shape,
                       text_of("sizes that do not fit: main_params [", main.rows, ", ", main.columns,
                               "], extra_params [", extra.rows, ", ", extra.columns, "], state [", state.rows,
                               ", ", state.columns, "], sequence [", sequence.rows, ", ", sequence.columns,
                               "]; expected [2 l, 4 b], [3, b], [2 l, b] and [c, b], c of 2 or more"));
    scale_ = -1.0 / static_cast<double>(units * steps);

    const EquationCell cell = benchmark_cell(layers);
    stack_.layers = {compile_equations(cell, units, 2 * units)};
    std::map<std::string, Tensor> by_name;
    const std::int64_t count = static_cast<std::int64_t>(cell.weights.size()), of_layers = count - 3;
    for (std::int64_t i = 0; i < count; ++i) {
      const bool below = i < of_layers;
      by_name[cell.weights[i].name] =
          (below ? main : extra).tensor({units}, (below ? i : i - of_layers) * units);
    }
    for (const WeightDefinition& weight : stack_.layers[0].weights) {
      weights_.push_back(by_name.at(weight.name));
      for (std::int64_t i = 0; i < count; ++i)
        if (cell.weights[i].name == weight.name) places_.push_back(i * units);
    }
    for (std::int64_t i = 0; i < 2 * layers; ++i)
      initial_.states.push_back(
          state.tensor({units}, i * units)
              .reshaped(state_window(stack_.layers[0], static_cast<int>(i), 1, Dtype::f64).first));
    batch_.x = Tensor({1, steps, 2 * units}, Dtype::f64);
    for (std::int64_t t = 0; t < steps;
         ++t)  // a row of the sequence and the next one, which follows it in memory
      for (std::int64_t k = 0; k < 2 * units; ++k)
        batch_.x.set(t * 2 * units + k, sequence.numbers[t * units + k]);
    each_ = Tensor::full({1, steps, 1}, Dtype::f64, scale_);
    gradient_.resize(count * units);
    evaluate_.emplace(stack_, Dtype::f64);
    hold_.emplace(stack_, Dtype::f64);
  }

  double objective() {
    const Tensor scores = evaluate_->evaluate(weights_, batch_, pool_, &initial_);
    const std::span<const double> values = scores.values<double>();
    return scale_ * std::accumulate(values.begin(), values.end(), 0.0);
  }

  /// The gradient with respect to main_params and extra_params, row by row.
  const std::vector<double>& jacobian() {
    HeldOutputs outputs = hold_->forward(weights_, batch_, pool_, initial_.states);
    const SequenceGradients gradients = outputs.backward(each_);
    for (std::size_t w = 0; w < places_.size(); ++w) {
      const std::span<const double> values = gradients.weights[w].values<double>();
      std::copy(values.begin(), values.end(), gradient_.begin() + places_[w]);
    }
    return gradient_;
  }

 private:
  StackDefinition stack_;
  std::vector<Tensor> weights_;
  std::vector<std::int64_t> places_;  // where each weight's gradient goes
  Window initial_;
  SequenceBatch batch_;
  Tensor each_;
  double scale_ = 0;
  std::vector<double> gradient_;
  ThreadPool pool_{1};
  std::optional<SequenceOp> evaluate_;
  std::optional<HeldSequence> hold_;
};

/// Runs at least the given number of times and seconds, and prints the last result and the times.
template <class Work>
void time_and_print(const Json& input, const Work& work) {
  const int runs = input.value("min_runs", 1);
  const double seconds = input.value("min_seconds", 0.0);
  std::vector<long long> nanoseconds;
  double elapsed = 0;
  Json result;
  for (int run = 0; run < runs || elapsed < seconds; ++run) {
    const auto start = std::chrono::steady_clock::now();
    const auto& found = work();
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
    nanoseconds.push_back(took.count());
    elapsed += 1e-9 * static_cast<double>(took.count());
    if (run + 1 >= runs && elapsed >= seconds) result = Json(found);
  }
  std::printf("%s\n", result.dump().c_str());
  for (const long long n : nanoseconds) std::printf("{\"name\": \"evaluate\", \"nanoseconds\": %lld}\n", n);
}

int run(const std::string& file, std::string_view function) {
  const Json input = read_json(file);
  Benchmark benchmark(input);
  if (function == "objective") {
    time_and_print(input, [&] { return benchmark.objective(); });
  } else if (function == "jacobian") {
    time_and_print(input, [&]() -> const std::vector<double>& { return benchmark.jacobian(); });
  } else {
    throw InputError(unknown_name("function", function, {"objective", "jacobian"}));
  }
  return 0;
}

}  // namespace
}  // namespace lagtape

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: lagtape_gradbench FILE objective|jacobian\n", stderr);
    return 2;
  }
  try {
    return lagtape::run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[1], error.what());
    return 2;
  }
}
