#include "lagtape/ops/recurrence/learn/learner.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <new>
#include <span>
#include <utility>

#include "lagtape/cells/indrnn.h"
#include "lagtape/cells/lstm.h"
#include "lagtape/cells/models/model.h"
#include "lagtape/cells/models/model_op.h"
#include "lagtape/cells/sru.h"
#include "lagtape/cells/tau_gru.h"
#include "lagtape/cells/unicornn.h"
#include "lagtape/cells/written/d_linoss.h"
#include "lagtape/cells/written/linoss.h"
#include "lagtape/cells/written/lru.h"
#include "lagtape/cells/written/min_gru.h"
#include "lagtape/cells/written/min_lstm.h"
#include "lagtape/core/error.h"
#include "lagtape/core/thread_pool.h"
#include "lagtape/ops/elementwise.h"

namespace lagtape {
namespace {

constexpr std::int64_t kInputs = 3, kOutputs = 2, kSteps = 57;

Model model_of(std::vector<LayerDefinition> layers, Dtype dtype = Dtype::f64, LossFunction loss = Loss::mse) {
  return Model({.layers = std::move(layers),
                .readout = {.units = kOutputs, .at = ReadAt::every_step},
                .loss = std::move(loss),
                .precision = dtype},
               {.input = kInputs, .output = kOutputs, .every_step = true}, 7);
}

template <class T>
std::vector<T> waves(std::int64_t width, double phase) {
  std::vector<T> all;
  for (std::int64_t n = 0; n < kSteps; ++n)
    for (std::int64_t i = 0; i < width; ++i)
      all.push_back(static_cast<T>(
          std::sin(0.31 * static_cast<double>(n) * (1 + 0.4 * static_cast<double>(i)) + phase)));
  return all;
}

/// The gradient of the mean loss over the sequence, by backpropagation through time, in segments of `window` steps.
std::vector<Tensor> through_time(Model& model, const std::vector<double>& x,
                                 const std::vector<double>& targets, std::int64_t window = kSteps) {
  ThreadPool pool(1);
  ModelOp op(model);
  model.parameters().zero_grad();
  Window states;
  const auto part = [](const std::vector<double>& all, std::int64_t width, std::int64_t begin,
                       std::int64_t count) {
    const auto first = all.begin() + begin * width;
    return Tensor::from({1, count, width}, std::vector<double>(first, first + count * width), Dtype::f64);
  };
  for (std::int64_t begin = 0; begin < kSteps; begin += window) {
    const std::int64_t count = std::min(window, kSteps - begin);
    Tape tape;
    SequenceBatch batch;
    batch.x = part(x, kInputs, begin, count);
    batch.targets = part(targets, kOutputs, begin, count);
    std::vector<Var> initial;
    for (const Tensor& state : states.states) initial.push_back(tape.variable(state));
    Window next;
    const Var loss = op.loss(tape, model.weights(tape), batch, pool, initial, &next);
    tape.backward(static_cast<double>(count) / kSteps * loss);
    states = std::move(next);
  }
  std::vector<Tensor> all;
  for (const Parameter& parameter : model.parameters()) all.push_back(parameter.grad);
  return all;
}

/// The gradient that a learner adds up while its weights stay.
std::vector<Tensor> by_learner(const Model& model, const std::vector<double>& x,
                               const std::vector<double>& targets, LearningMethod method,
                               std::int64_t window = 1) {
  Learner<double> learner = model.learner<double>({.method = method, .lr = 0, .window = window});
  for (std::int64_t n = 0; n < kSteps; ++n)
    learner.step(x.data() + n * kInputs, targets.data() + n * kOutputs);
  std::vector<Tensor> all = learner.gradients();
  for (Tensor& sum : all)
    for (std::int64_t i = 0; i < sum.numel(); ++i) sum.set(i, sum.at(i) / kSteps);
  return all;
}

double difference(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double largest = 0;
  REQUIRE(a.size() == b.size());
  for (std::size_t p = 0; p < a.size(); ++p) {
    double size = 0, apart = 0;
    for (std::int64_t i = 0; i < a[p].numel(); ++i) {
      size = std::max(size, std::abs(b[p].at(i)));
      apart = std::max(apart, std::abs(a[p].at(i) - b[p].at(i)));
    }
    CHECK(size > 0);  // otherwise zeros would pass
    largest = std::max(largest, apart / size);
  }
  return largest;
}

struct ExactCell {
  const char* name;
  LayerDefinition layer;
};

std::vector<ExactCell> exact_cells() {
  return {{"indrnn", IndRnn{.units = 5, .longest = 40}},
          {"sru", Sru{.units = 5}},
          {"sru, as wide as its input", Sru{.units = kInputs}},
          {"unicornn",
           {Unicornn{.units = 5, .layers = 1, .dt = {0.2}, .alpha = 0.7, .dropout = 0},
            {.arithmetic = Arithmetic::real}}},
          {"min_gru", MinGru{.units = 5}},
          {"min_gru, positive", MinGru{.units = 19, .candidate = "positive"}},
          {"min_lstm", MinLstm{.units = 5}},
          {"lru", Lru{.units = 4, .states = 6}},
          {"lru, as wide as its input", Lru{.units = kInputs, .states = 21}},
          {"linoss, im", Linoss{.units = 4, .oscillators = 6}},
          {"linoss, imex", Linoss{.units = 4, .oscillators = 6, .method = "imex"}},
          {"d_linoss", DLinoss{.units = 4, .oscillators = 6}}};
}

}  // namespace

TEST_CASE("real-time recurrent learning has the gradient of backpropagation through time") {
  const std::vector<double> x = waves<double>(kInputs, 0), targets = waves<double>(kOutputs, 1);
  for (const ExactCell& cell : exact_cells()) {
    CAPTURE(cell.name);
    Model model = model_of({cell.layer});
    const double apart =
        difference(by_learner(model, x, targets, LearningMethod::rtrl), through_time(model, x, targets));
    CHECK(apart < 1e-12);
  }
}

TEST_CASE("e-prop is exact where real-time recurrent learning is, and not with a recurrent matrix") {
  const std::vector<double> x = waves<double>(kInputs, 0), targets = waves<double>(kOutputs, 1);
  Model gru = model_of({MinGru{.units = 5}}), lstm = model_of({Lstm{.units = 5}});
  CHECK(difference(by_learner(gru, x, targets, LearningMethod::e_prop), through_time(gru, x, targets)) <
        1e-12);
  const double apart =
      difference(by_learner(lstm, x, targets, LearningMethod::e_prop), through_time(lstm, x, targets));
  CHECK(apart > 1e-3);
  CHECK(apart < 2);
}

TEST_CASE("truncated learning has the gradient of truncated backpropagation through time") {
  const std::vector<double> x = waves<double>(kInputs, 0), targets = waves<double>(kOutputs, 1);
  const auto apart = [&](Model& model, std::int64_t window, std::int64_t segment) {
    return difference(by_learner(model, x, targets, LearningMethod::truncated, window),
                      through_time(model, x, targets, segment));
  };
  Model gru = model_of({MinGru{.units = 5}}), linoss = model_of({Linoss{.units = 4, .oscillators = 6}}),
        lstm = model_of({Lstm{.units = 5}, Lstm{.units = 4}});
  for (const std::int64_t window : {1, 8, 57}) {
    CHECK(apart(gru, window, window) < 1e-12);
    CHECK(apart(linoss, window, window) < 1e-12);
  }
  CHECK(apart(gru, 8, 57) > 1e-3);
  CHECK(apart(lstm, 1, 1) < 1e-12);
  CHECK(apart(lstm, 2, 2) > 1e-3);
  CHECK_THROWS_WITH_AS(gru.learner<double>({.method = LearningMethod::truncated, .window = 0}),
                       doctest::Contains("window"), InputError);
}

TEST_CASE("in a stack of layers the top recurrent layer and the read-out have their whole gradient") {
  const std::vector<double> x = waves<double>(kInputs, 0), targets = waves<double>(kOutputs, 1);
  Model model = model_of({MinGru{.units = 5}, MinGru{.units = 4}});
  const std::vector<Tensor> learned = by_learner(model, x, targets, LearningMethod::e_prop);
  const std::vector<Tensor> whole = through_time(model, x, targets);
  const std::vector<Tensor> top(learned.begin() + 4, learned.end()),
      whole_top(whole.begin() + 4, whole.end());
  CHECK(difference(top, whole_top) < 1e-12);
  const std::vector<Tensor> low(learned.begin(), learned.begin() + 4),
      whole_low(whole.begin(), whole.begin() + 4);
  CHECK(difference(low, whole_low) > 1e-3);
}

TEST_CASE("a learner predicts what a stream does as long as nothing moves") {
  const std::vector<double> x = waves<double>(kInputs, 0);
  const LayerDefinition layers[] = {Lru{.units = 4, .states = 6}, TauGru{.units = 4, .tau = {3}}};
  for (const LayerDefinition& layer : layers) {
    CAPTURE(layer.name());
    Model model = model_of({layer});
    model.normalization() = {{{0.1, 0.2, 0.3}, {2, 3, 4}}, {{5, 6}, {7, 8}}};
    Stream<double> stream = model.stream<double>();
    Learner<double> learner = model.learner<double>({.method = LearningMethod::e_prop, .lr = 0});
    double sizes = 0;
    for (std::int64_t n = 0; n < kSteps; ++n) {
      double expected[kOutputs], got[kOutputs];
      stream.step(x.data() + n * kInputs, expected);
      learner.step(x.data() + n * kInputs, nullptr, got);
      for (int i = 0; i < kOutputs; ++i) {
        CHECK(std::abs(got[i] - expected[i]) < 1e-12 * (1 + std::abs(expected[i])));
        sizes += std::abs(expected[i] - expected[0]);
      }
    }
    CHECK(sizes > 0.1);
  }
}

TEST_CASE_TEMPLATE("the loss falls with both rules, and the model takes the weights", T, float, double) {
  const std::vector<T> x = waves<T>(kInputs, 0), targets = waves<T>(kOutputs, 0.3);
  for (const LearningRule rule : {LearningRule::sgd, LearningRule::adam}) {
    Model model = model_of({MinGru{.units = 12}}, dtype_of<T>);
    Learner<T> learner =
        model.template learner<T>({.rule = rule, .lr = 0.01, .every = rule == LearningRule::sgd ? 1 : 4});
    std::vector<double> losses;
    for (int turn = 0; turn < 40; ++turn) {
      double sum = 0;
      for (std::int64_t n = 0; n < kSteps; ++n)
        sum += learner.step(x.data() + n * kInputs, targets.data() + n * kOutputs);
      losses.push_back(sum / kSteps);
    }
    CHECK(losses.back() < 0.3 * losses.front());
    model.take(learner);
    Learner<T> fresh = model.template learner<T>({.lr = 0});
    double sum = 0;
    for (std::int64_t n = 0; n < kSteps; ++n)
      sum += fresh.step(x.data() + n * kInputs, targets.data() + n * kOutputs);
    CHECK(sum / kSteps < 0.3 * losses.front());
  }
}

TEST_CASE("a step without a target, or with one that is no number, moves nothing") {
  const std::vector<double> x = waves<double>(kInputs, 0);
  Model model = model_of({MinGru{.units = 5}});
  Learner<double> learner = model.learner<double>({.lr = 0.1});
  const std::vector<Tensor> before = learner.weights();
  const double none[kOutputs] = {std::nan(""), std::nan("")}, one[kOutputs] = {1, std::nan("")};
  for (std::int64_t n = 0; n < 5; ++n) {
    CHECK(learner.step(x.data() + n * kInputs, nullptr) == 0);
    CHECK(learner.step(x.data() + n * kInputs, none) == 0);
  }
  for (std::size_t p = 0; p < before.size(); ++p)
    for (std::int64_t i = 0; i < before[p].numel(); ++i) CHECK(learner.weights()[p].at(i) == before[p].at(i));
  CHECK(learner.step(x.data(), one) > 0);
  CHECK(learner.weights()[0].at(0) != before[0].at(0));
  CHECK(learner.is_finite());
}

TEST_CASE("a learner goes on from a saved state to the same bits, and refuses the states of others") {
  const std::vector<double> x = waves<double>(kInputs, 0), targets = waves<double>(kOutputs, 0.3);
  const auto run = [&](Learner<double>& learner, std::int64_t begin, std::int64_t end) {
    std::vector<double> losses;
    for (std::int64_t n = begin; n < end; ++n)
      losses.push_back(learner.step(x.data() + n * kInputs, targets.data() + n * kOutputs));
    return losses;
  };
  const std::pair<LayerDefinition, LearnerOptions> cases[] = {
      {Lru{.units = 4, .states = 6}, {.lr = 0.02}},
      {Sru{.units = 5}, {.rule = LearningRule::adam, .every = 3}},
      {TauGru{.units = 4, .tau = {3}}, {.method = LearningMethod::e_prop, .lr = 0.05}},
      {MinGru{.units = 4}, {.method = LearningMethod::truncated, .window = 5}}};
  for (const auto& [layer, options] : cases) {
    CAPTURE(layer.name());
    const Model model = model_of({layer});
    Learner<double> learner = model.learner<double>(options), other = model.learner<double>(options);
    run(learner, 0, 20);
    std::vector<std::byte> state(learner.state_size()), second = state;
    learner.save(state);
    const std::vector<double> expected = run(learner, 20, kSteps);
    CHECK(run(other, 0, 7).back() != expected.back());
    other.restore(state);
    CHECK(other.steps() == 20);
    CHECK(run(other, 20, kSteps) == expected);

    learner.save(state);
    const auto refused = [&](std::span<const std::byte> bytes, const char* why) {
      CHECK_THROWS_WITH_AS(learner.restore(bytes), doctest::Contains(why), InputError);
      learner.save(second);
      CHECK(second == state);
    };
    refused({}, "no state of a learner");
    refused(std::span(state).first(state.size() - 8), "bytes. Got");
    Learner<double> wider = model_of({MinGru{.units = 7}}).learner<double>({});
    std::vector<std::byte> of_wider(wider.state_size());
    wider.save(of_wider);
    refused(of_wider, "of another learner");
    std::vector<std::byte> changed = state;
    changed[changed.size() / 2] ^= std::byte{1};
    refused(changed, "were changed");
    CHECK_THROWS_AS(learner.save(std::span(second).first(9)), InputError);
  }
}

TEST_CASE("what a learner cannot do is said with the reason") {
  const auto reason = [](std::vector<LayerDefinition> layers, LearnerOptions options = {}) -> std::string {
    try {
      model_of(std::move(layers)).learner<double>(options);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(reason({Lstm{.units = 4}}).find("multiplies what depends on states") != std::string::npos);
  CHECK(reason({MinGru{.units = 4}, MinGru{.units = 4}}).find("of layer 1 multiplies") != std::string::npos);
  CHECK(reason({TauGru{.units = 4, .tau = {3}}}).find("several steps before") != std::string::npos);
  CHECK(reason({MinGru{.units = 4}}, {.lr = -1}).find("lr") != std::string::npos);
  CHECK(reason({MinGru{.units = 4}}, {.every = 0}).find("every") != std::string::npos);
  CHECK_THROWS_WITH_AS(learning_method_named("rtlr"), doctest::Contains("rtrl"), InputError);
}

}  // namespace lagtape
