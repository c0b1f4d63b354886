#include <doctest/doctest.h>

#include <algorithm>
#include <type_traits>

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/cells.h"
#include "lagtape/cells/layers/batch_norm.h"
#include "lagtape/cells/layers/bidirectional.h"
#include "lagtape/cells/layers/dropout.h"
#include "lagtape/cells/layers/embedding.h"
#include "lagtape/cells/layers/layer_norm.h"
#include "lagtape/cells/layers/linear.h"
#include "lagtape/tests/cells/support/cell_row.h"

// The structs of the cells, as a C++ user fills them, give the same layers and the same messages as JSON.

namespace lagtape {
namespace {

using namespace test;

constexpr std::int64_t kInput = 3;

/// Calls f(struct, options) for every cell, as written in C++ and in JSON, both with the defaults of all that may be left
/// out.
template <class F>
void for_each_cell(F f) {
  f(TauGru{.units = 5, .tau = 3}, {{"units", 5}, {"tau", 3}});
  f(DelayGru{.units = 5, .tau = 3}, {{"units", 5}, {"tau", 3}});
  f(Lem{.units = 5}, {{"units", 5}});
  f(Unicornn{.units = 5, .dt = {0.2}}, {{"units", 5}, {"dt", 0.2}});
  f(CoRnn{.units = 5, .dt = 0.1, .gamma = 2, .epsilon = 3},
    {{"units", 5}, {"dt", 0.1}, {"gamma", 2}, {"epsilon", 3}});
  f(Rnn{.units = 5}, {{"units", 5}});
  f(Lstm{.units = 5}, {{"units", 5}});
  f(Gru{.units = 5}, {{"units", 5}});
  f(LipschitzRnn{.units = 5}, {{"units", 5}});
  f(NoisyRnn{.units = 5}, {{"units", 5}});
  f(AntisymmetricRnn{.units = 5}, {{"units", 5}});
  f(IndRnn{.units = 5}, {{"units", 5}});
  f(FastRnn{.units = 5}, {{"units", 5}});
  f(FastGrnn{.units = 5}, {{"units", 5}});
  f(IncrementalRnn{.units = 5}, {{"units", 5}});
  f(Tarnn{.units = 5, .length = 4}, {{"units", 5}, {"length", 4}});
  f(ExpRnn{.units = 5}, {{"units", 5}});
  f(Sru{.units = 5}, {{"units", 5}});
  f(S4d{.units = kInput}, {{"units", kInput}});
  f(Lmu{.units = 5, .order = 4, .theta = 9}, {{"units", 5}, {"order", 4}, {"theta", 9}});
  f(MinGru{.units = 5}, {{"units", 5}});
  f(MinLstm{.units = 5}, {{"units", 5}});
  f(Lru{.units = 5}, {{"units", 5}});
  f(Linoss{.units = 5}, {{"units", 5}});
  f(DLinoss{.units = 5}, {{"units", 5}});
  f(RgLru{.units = 5}, {{"units", 5}});
  f(Slstm{.units = 5}, {{"units", 5}});
  f(Mlstm{.units = 5}, {{"units", 5}});
  f(GatedDeltanet{.units = 5}, {{"units", 5}});
  f(Hgrn2{.units = 5}, {{"units", 5}});
  f(Cfc{.units = 5}, {{"units", 5}});
  f(Ltc{.units = 5}, {{"units", 5}});
  f(Mamba{.units = 5}, {{"units", 5}});
  f(EchoState{.units = 5}, {{"units", 5}});
  f(Lif{.units = 5}, {{"units", 5}});
}

/// The first difference between two stacks of layers; empty when there is none.
std::string difference_of(const std::vector<Layer>& a, const std::vector<Layer>& b) {
  if (a.size() != b.size()) return text_of(a.size(), " layers and ", b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (to_string(a[i].program) != to_string(b[i].program)) return text_of("the step of layer ", i);
    if (a[i].parameters.size() != b[i].parameters.size()) return text_of("the parameters of layer ", i);
    for (std::size_t p = 0; p < a[i].parameters.size(); ++p) {
      const ParameterDefinition &x = a[i].parameters[p], &y = b[i].parameters[p];
      const bool same = x.name == y.name && x.shape == y.shape && x.initializer == y.initializer &&
                        x.draws_of == y.draws_of && x.trainable == y.trainable;
      if (!same) return text_of("the parameter ", x.name, " of layer ", i);
    }
  }
  return "";
}

TEST_CASE("every cell built from its struct is the layer that JSON builds, defaults included") {
  std::vector<std::string> names = {"dilated"};  // layers of another cell, without a struct
  for_each_cell([&](const auto& cell, const Json& options) {
    const std::string name(cell.kEntry.name);
    CAPTURE(name);
    names.push_back(name);
    CHECK(difference_of(build_of(cell)(kInput).layers, build_cell(name, options, kInput)) == "");
  });
  std::vector<std::string> all = names_of(cells());
  std::ranges::sort(names);
  std::ranges::sort(all);
  CHECK(names == all);
}

TEST_CASE("the comparison of layers sees other steps, first values and arithmetic") {
  const auto lem = [](const Lem& cell) { return std::vector<Layer>{cell.build(kInput)}; };
  CHECK(difference_of(lem({.units = 5}), lem({.units = 5, .dt = 0.5})) == "the step of layer 0");
  CHECK(difference_of(lem({.units = 5}), lem({.units = 5, .chrono = 9})) ==
        "the parameter W1.bias of layer 0");
  const Json real = {{"units", 5}, {"dt", 0.2}, {"arithmetic", "float"}};
  CHECK(difference_of(Unicornn{.units = 5, .dt = {0.2}}.build(kInput),
                      build_cell("unicornn", real, kInput)) == "the step of layer 0");
}

/// Calls check(default struct) for every cell with a struct.
template <class Check>
void for_each_struct(Check check) {
  for_each_cell([&](const auto& cell, const Json&) { check(std::remove_cvref_t<decltype(cell)>()); });
}

TEST_CASE("the options of a struct, written as JSON, read as the same layer") {
  for_each_struct([](auto cell) {
    const std::string name(cell.kEntry.name);
    for (const Json& options : read_row(name).options) {
      JsonErrors errors;
      JsonReader reader(options, "", errors);
      auto filled = cell;
      read_options(reader, cell.kEntry.options, filled);
      errors.raise(name);
      const Json again = json_of(cell.kEntry.options, filled);
      CAPTURE(name);
      CAPTURE(again.dump());
      CHECK(difference_of(build_cell(name, again, kInput), build_of(filled)(kInput).layers) == "");
      for (const OptionDoc& option : reader.documentation()) CHECK(again.contains(option.key));
    }
  });
}

/// The message that `build` throws; empty when it throws none.
template <class Options>
std::string message_of(const Options& options) {
  try {
    options.build(kInput);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("every struct without its units is refused") {
  for_each_struct([](const auto& cell) {
    CHECK_MESSAGE(message_of(cell).starts_with(text_of(cell.kEntry.name, ": /units: expected integer >= ")),
                  cell.kEntry.name);
  });
  CHECK(message_of(Linear{}) == "linear: /units: expected integer >= 1 and <= 65536, got 0");
  CHECK(message_of(Embedding{}).starts_with("embedding: /units: expected integer >= 1"));
}

TEST_CASE("what JSON refuses, a struct refuses with the same words") {
  CHECK(message_of(TauGru{.units = 4}) == "tau_gru: /tau: a list of delays must have at least one.");
  CHECK(message_of(TauGru{.units = 4, .tau = -1}) ==
        "tau_gru: /tau: expected number >= 0, or {\"max\": 64}, got -1.0");
  CHECK(message_of(TauGru{.units = 4, .tau = {3, Delay::trained(8, 9)}}) ==
        "tau_gru: /tau/1/start: must be within 1 .. max, got 9.0.");
  CHECK(message_of(TauGru{.units = 4, .tau = 1, .form = "papr"}) ==
        "tau_gru: /form: unknown value 'papr'; did you mean 'paper'? Known: paper, code");
  CHECK(message_of(DelayGru{.units = 4}).starts_with("delay_gru: /tau: expected integer >= 0"));
  CHECK(message_of(CoRnn{.units = 4, .dt = 0.1, .gamma = 1}) ==
        "cornn: /epsilon: expected number >= 0, got null");
  CHECK(message_of(Unicornn{.units = 4}) ==
        "unicornn: /dt: expected a number above 0, or a list of 3, one for each layer. Got [].");
  CHECK(message_of(Unicornn{.units = 4, .layers = 2, .dt = {0.1}, .residual_stacking = 2}) ==
        "unicornn: /residual_stacking: there are 2 layers, so that none is 2 above another.");
  CHECK(message_of(Lstm{.units = 4, .dt = 0.5}) == "lstm: /dt: there is no dt without scaling.");
  CHECK(message_of(Dropout{}) == "dropout: /rate: expected number >= 0 and < 1, got null");
  CHECK(message_of(LayerNorm{.eps = 0}).starts_with("layer_norm: /eps: expected number > 0"));
  CHECK(message_of(BatchNorm{.momentum = 2}).starts_with("batch_norm: /momentum: expected number"));
  CHECK(message_of(Linear{.units = 2, .init = {"kaiming"}}).starts_with("linear: /init: unknown value"));
  CHECK(message_of(Bidirectional{}) == "bidirectional: /cell: is missing, expected a cell");
  CHECK(message_of(Bidirectional{.cell = build_of(Rnn{.units = 2}), .merge = "product"})
            .starts_with("bidirectional: /merge: unknown value 'product'"));
  CHECK_THROWS_WITH_AS(Delay::trained(0), "[delay] a trained delay needs a max of at least 1, got 0.",
                       InputError);
}

TEST_CASE("delays are written as in JSON: one or several, fixed or trained") {
  const auto delays = [](Delays tau) {
    return json_of(TauGru::kEntry.options, TauGru{.units = 1, .tau = std::move(tau)})["tau"].dump();
  };
  CHECK(delays(10) == "10.0");
  CHECK(delays({10}) == "10.0");
  CHECK(delays({10, 20}) == "[10.0,20.0]");
  CHECK(delays(Delay::trained(64)) == R"({"max":64,"each":"layer","start":32.5})");
  CHECK(delays({10, Delay::trained(64, 20)}) == R"([10.0,{"max":64,"each":"layer","start":20.0}])");
  CHECK(delays(Delay::trained_each_unit(64)) == R"({"max":64,"each":"unit","start":[1.0,64.0]})");
}

TEST_CASE("first values written in C++ are those that JSON reads") {
  CommonCellOptions common{
      .dilations = {1, 2},
      .residual = true,
      .init = {{{"W", Initializer::orthogonal()}, {"W.bias", Initializer::constant(2)}}}};
  const Json options = json_of(kCommonCellOptions, common);
  CHECK(options.dump() ==
        R"({"dilations":[1,2],"residual":true,"init":{)"
        R"("W":{"type":"orthogonal","gain":1.0},"W.bias":{"type":"constant","value":2.0}}})");
  Json rnn = options;
  rnn["units"] = kInput;
  CHECK(difference_of(common.apply(build_of(Rnn{.units = kInput}))(kInput).layers,
                      build_cell("rnn", rnn, kInput)) == "");
}

}  // namespace
}  // namespace lagtape
