#include "lagtape/tools/exchange/import/keras_layer.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <span>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/exchange/files/json_tensor.h"
#include "lagtape/tools/exchange/import/step_functions.h"

namespace lagtape::foreign {
namespace {

/// Reads one layer.
class LayerReader {
 public:
  LayerReader(const KerasLayerEntry& layer, std::vector<KerasValue> inputs, TensorReader& weights,
              StepGraph& graph, std::vector<std::string>& notes)
      : layer_(layer),
        config_(layer.config),
        inputs_(std::move(inputs)),
        weights_(weights),
        g_(graph),
        notes_(notes) {}

  KerasValue read() {
    using L = LayerReader;
    static const std::map<std::string, KerasValue (L::*)()> rules = {{"LSTM", &L::recurrence},
                                                                     {"GRU", &L::recurrence},
                                                                     {"SimpleRNN", &L::recurrence},
                                                                     {"Bidirectional", &L::recurrence},
                                                                     {"Dense", &L::dense},
                                                                     {"TimeDistributed", &L::every_step},
                                                                     {"Activation", &L::activation},
                                                                     {"ReLU", &L::activation},
                                                                     {"LeakyReLU", &L::activation},
                                                                     {"ELU", &L::activation},
                                                                     {"Softmax", &L::activation},
                                                                     {"Dropout", &L::same},
                                                                     {"SpatialDropout1D", &L::same},
                                                                     {"GaussianNoise", &L::same},
                                                                     {"GaussianDropout", &L::same},
                                                                     {"AlphaDropout", &L::same},
                                                                     {"ActivityRegularization", &L::same},
                                                                     {"Masking", &L::unmasked},
                                                                     {"Normalization", &L::normalization},
                                                                     {"Rescaling", &L::rescaling},
                                                                     {"BatchNormalization", &L::batch_norm},
                                                                     {"LayerNormalization", &L::layer_norm},
                                                                     {"Embedding", &L::embedding},
                                                                     {"Concatenate", &L::joined},
                                                                     {"Add", &L::joined},
                                                                     {"Subtract", &L::joined},
                                                                     {"Multiply", &L::joined},
                                                                     {"Average", &L::joined},
                                                                     {"Maximum", &L::joined},
                                                                     {"Minimum", &L::joined},
                                                                     {"GlobalAveragePooling1D", &L::pooled},
                                                                     {"GlobalMaxPooling1D", &L::pooled}};
    const auto rule = rules.find(layer_.type);
    const auto known = rules | std::views::keys;
    if (rule == rules.end())
      refuse(text_of("the layer ", layer_.type,
                     " is not supported. Supported: ", listed({known.begin(), known.end()}), "."));
    const bool several = rule->second == &L::joined;
    if (inputs_.empty() || (!several && inputs_.size() != 1)) refuse("expected one input.");
    return (this->*rule->second)();
  }

 private:
  [[noreturn]] void refuse(const std::string& message) const {
    throw InputError(layer_.place, Rule::not_supported, message);
  }

  int in() const { return inputs_[0].value; }
  std::int64_t width() const { return g_.width(in()); }
  KerasValue like_input(int value) const { return {value, inputs_[0].is_last}; }
  std::string path(const std::string& part) const { return text_of(layer_.path, "/", part); }

  static bool flag(const Json& config, const char* key, bool missing) {
    const Json* found = config.find(key);
    return found == config.end() || !found->is_boolean() ? missing : found->get<bool>();
  }
  static double real(const Json& config, const char* key, double missing) {
    const Json* found = config.find(key);
    return found == config.end() || !found->is_number() ? missing : found->get<double>();
  }
  std::string text(const Json& config, const char* key, const std::string& missing) const {
    const Json* found = config.find(key);
    if (found == config.end() || found->is_null()) return missing;
    if (!found->is_string())
      refuse(text_of(key, " is a function of its own. Supported: Keras's by their names."));
    return found->get<std::string>();
  }

  int applied(const std::string& name, int value) const {
    const auto found = keras_functions().find(name);
    if (found != keras_functions().end()) return found->second(g_, value);
    const auto known = keras_functions() | std::views::keys;
    throw InputError(unknown_name("activation", name, {known.begin(), known.end()}).within(layer_.place));
  }

  int weight(const std::string& path, const Tensor& tensor) const {
    return g_.weight(path, [&] { return tensor; });
  }
  // ---- Recurrences ----

  ForeignCell cell_of(const Json& config, const std::string& type, const std::string& path) const {
    const Place& place = layer_.place;
    ForeignCell cell;
    cell.kind = type == "LSTM" ? CellKind::lstm : type == "GRU" ? CellKind::gru : CellKind::rnn;
    cell.units = count_at(config, "units", place);
    cell.input = width();
    const auto gates = std::ssize(gates_of(cell.kind));
    if (flag(config, "stateful", false)) refuse("stateful is not supported.");
    if (flag(config, "go_backwards", false) && layer_.type != "Bidirectional")
      refuse("go_backwards is not supported.");
    const auto function = [&](const char* key, const std::string& missing) {
      const std::string name = text(config, key, missing);
      for (const char* known : {"tanh", "sigmoid", "relu", "softplus"})
        if (name == known) return name;
      throw InputError(unknown_name(key, name, {"tanh", "sigmoid", "relu", "softplus"}).within(place));
    };
    cell.input_function = cell.output_function = function("activation", "tanh");
    if (cell.kind != CellKind::rnn) cell.gate_function = function("recurrent_activation", "sigmoid");
    const Tensor U = transposed(weights_.take(path + "/0", {cell.input, gates * cell.units}, Dtype::f64)),
                 W = transposed(weights_.take(path + "/1", {cell.units, gates * cell.units}, Dtype::f64));
    const bool has_bias = flag(config, "use_bias", true);
    const bool resets_after = cell.kind == CellKind::gru && flag(config, "reset_after", true);
    const std::int64_t all = gates * cell.units;
    Tensor bias, state_bias;
    if (has_bias && resets_after) {
      const Tensor both = weights_.take(path + "/2", {2, all}, Dtype::f64);
      bias = rows_of(both, 0, 1).reshaped({all});
      state_bias = rows_of(both, 1, 1).reshaped({all});
    } else if (has_bias) {
      bias = weights_.take(path + "/2", {all}, Dtype::f64);
    }
    cell.resets_before = cell.kind == CellKind::gru && !resets_after;
    const std::vector<std::string> order =
        cell.kind == CellKind::gru ? std::vector<std::string>{"z", "r", "n"} : gates_of(cell.kind);
    cell.gates = split_gates(cell.kind, order, W, U, state_bias, bias);
    return cell;
  }

  /// The layer's configuration inside of another one's.
  std::pair<std::string, const Json*> inner(const char* key) const {
    const Json& layer = object_at(config_, key, layer_.place);
    return {text_at(layer, "class_name", layer_.place), &object_at(layer, "config", layer_.place)};
  }

  KerasValue recurrence() {
    if (inputs_[0].is_last) refuse("reads one step. Set return_sequences of the layer below.");
    ForeignRecurrence made;
    Json config = config_;
    std::string type = layer_.type, merge = "concat";
    if (type == "Bidirectional") {
      const auto [name, inside] = inner("layer");
      if (name != "LSTM" && name != "GRU" && name != "SimpleRNN")
        refuse(text_of("the layer ", name, " is not supported."));
      type = name;
      config = *inside;
      merge = text(config_, "merge_mode", "none");
      made.directions = {cell_of(config, type, path("forward_layer/cell/vars")),
                         cell_of(config, type, path("backward_layer/cell/vars"))};
    } else {
      made.directions = {cell_of(config, type, path("cell/vars"))};
    }
    if (flag(config, "return_state", false)) refuse("return_state is not supported.");
    const bool is_last = !flag(config, "return_sequences", false);
    const std::int64_t units = made.directions[0].units;
    const bool both = made.directions.size() > 1;
    int value = g_.add({.kind = StepKind::recurrence,
                        .inputs = {in()},
                        .width = both ? 2 * units : units,
                        .begin = std::ssize(g_.recurrences)});
    g_.recurrences.push_back({text_of("layer ", quote(layer_.place.item)), std::move(made)});
    if (both) {
      const int forward = g_.slice(value, 0, units);
      int backward = g_.slice(value, units, units);
      if (is_last)
        backward =
            g_.add({.kind = StepKind::over_time, .function = "first", .inputs = {backward}, .width = units});
      value = merge == "concat" ? (is_last ? g_.concat({forward, backward}) : value)
              : merge == "sum"  ? g_.element("+", forward, backward)
              : merge == "mul"  ? g_.element("*", forward, backward)
              : merge == "ave"  ? g_.scaled(g_.element("+", forward, backward), 0.5)
                                : -1;
      if (value < 0)
        refuse(text_of("merge_mode ", quote(merge), " is not supported. Supported: concat, sum, ave, mul."));
    }
    return {value, is_last};
  }

  // ---- Maps and functions ----

  KerasValue dense() {
    const std::int64_t units = count_at(config_, "units", layer_.place);
    const Tensor W = transposed(weights_.take(path("vars/0"), {width(), units}, Dtype::f64));
    const bool has_bias = flag(config_, "use_bias", true);
    const int bias =
        has_bias ? weight(path("vars/1"), weights_.take(path("vars/1"), {units}, Dtype::f64)) : -1;
    return like_input(
        applied(text(config_, "activation", "linear"), g_.map(in(), weight(path("vars/0"), W), bias)));
  }

  KerasValue every_step() {
    const auto [type, config] = inner("layer");
    if (inputs_[0].is_last || type == "Bidirectional" || type == "LSTM" || type == "GRU" ||
        type == "SimpleRNN")
      refuse("expected a layer of one step inside, and all steps as its input.");
    const KerasLayerEntry entry{*config, type, layer_.place, path("layer")};
    return keras_output(entry, inputs_, weights_, g_, notes_);
  }

  KerasValue activation() {
    const std::string& type = layer_.type;
    const int a = in();
    if (type == "Activation") return like_input(applied(text(config_, "activation", "linear"), a));
    if (type == "LeakyReLU") return like_input(leaky_relu(g_, a, real(config_, "negative_slope", 0.3)));
    if (type == "ELU") return like_input(exponential_unit(g_, a, real(config_, "alpha", 1), 1, 1));
    if (type == "Softmax") {
      check_last_axis("axis");
      return like_input(softmax(g_, a, false));
    }
    if (real(config_, "threshold", 0) != 0) refuse("a threshold is not supported.");
    const double slope = real(config_, "negative_slope", 0), most = real(config_, "max_value", INFINITY);
    const int bent = slope == 0 ? g_.element("relu", a) : leaky_relu(g_, a, slope);
    return like_input(most < INFINITY ? g_.element("minimum", bent, g_.number(most)) : bent);
  }

  KerasValue same() { return inputs_[0]; }

  KerasValue unmasked() {
    notes_.push_back(text_of("The layer ", quote(layer_.place.item),
                             " masks steps. The model reads all steps: leave padding out."));
    return inputs_[0];
  }

  // ---- Scales and norms ----

  void check_last_axis(const char* key) const {
    const Json* axis = config_.find(key);
    const Json* number =
        axis != config_.end() && axis->is_array() && axis->size() == 1 ? axis->begin() : axis;
    if (number == config_.end() || !number->is_number_integer()) return;
    const std::int64_t last = inputs_[0].is_last ? 1 : 2, found = number->get<std::int64_t>();
    if (found != -1 && found != last) refuse("is supported over the last axis.");
  }

  /// Numbers of the configuration, as many as the input has; one number counts for all.
  std::vector<double> numbers(const char* key) const {
    const Json* found = config_.find(key);
    std::vector<double> all;
    if (found == config_.end() || found->is_null()) return all;
    if (found->is_number()) {
      all.push_back(found->get<double>());
    } else {
      const Tensor tensor = tensor_of(*found, part_of(layer_.place, key));
      for (std::int64_t i = 0; i < tensor.numel(); ++i) all.push_back(tensor.at(i));
    }
    if (all.size() == 1) all.resize(static_cast<std::size_t>(width()), all[0]);
    if (std::ssize(all) != width())
      refuse(text_of(key, " has ", all.size(), " numbers, its input ", width(), "."));
    return all;
  }

  /// A weight of as many numbers as the input has.
  std::vector<double> taken(const std::string& part) const {
    const Tensor tensor = weights_.take(path(part), {width()}, Dtype::f64);
    const std::span<const double> numbers = tensor.values<double>();
    return {numbers.begin(), numbers.end()};
  }

  KerasValue scaled(const std::vector<double>& scale, const std::vector<double>& shift) const {
    return like_input(g_.element("+", g_.element("*", in(), g_.vector(scale)), g_.vector(shift)));
  }

  KerasValue normalization() {
    check_last_axis("axis");
    if (flag(config_, "invert", false)) refuse("invert is not supported.");
    std::vector<double> mean = numbers("mean"), variance = numbers("variance");
    if (mean.empty()) mean = taken("vars/0"), variance = taken("vars/1");
    for (double& value : variance) value = std::max(std::sqrt(value), 1e-7);
    const int centered = g_.element("-", in(), g_.vector(mean));
    return like_input(g_.element("/", centered, g_.vector(variance)));
  }

  KerasValue rescaling() { return scaled(numbers("scale"), numbers("offset")); }

  KerasValue batch_norm() {
    check_last_axis("axis");
    const bool has_scale = flag(config_, "scale", true), has_center = flag(config_, "center", true);
    int next = 0;
    const auto take = [&](bool is_there, double missing) {
      return is_there ? taken(text_of("vars/", next++))
                      : std::vector<double>(static_cast<std::size_t>(width()), missing);
    };
    std::vector<double> gamma = take(has_scale, 1), beta = take(has_center, 0);
    const std::vector<double> mean = take(true, 0), variance = take(true, 1);
    for (std::size_t i = 0; i < gamma.size(); ++i) {
      gamma[i] /= std::sqrt(variance[i] + real(config_, "epsilon", 1e-3));
      beta[i] -= mean[i] * gamma[i];
    }
    return scaled(gamma, beta);
  }

  KerasValue layer_norm() {
    check_last_axis("axis");
    if (flag(config_, "rms_scaling", false)) refuse("rms_scaling is not supported.");
    int next = 0;
    const auto take = [&](const char* key, double missing) {
      const std::string name = path(text_of("vars/", next));
      if (!flag(config_, key, true))
        return weight(text_of("all ", missing, " ", width()),
                      Tensor::from({width()}, std::vector<double>(static_cast<std::size_t>(width()), missing),
                                   Dtype::f64));
      ++next;
      return weight(name, weights_.take(name, {width()}, Dtype::f64));
    };
    const int gain = take("scale", 1), shift = take("center", 0);
    const double eps = real(config_, "epsilon", 1e-3);
    if (!(eps > 0)) refuse("expected an epsilon above 0.");
    return like_input(g_.add({.kind = StepKind::layer_norm,
                              .inputs = {in()},
                              .width = width(),
                              .weight = gain,
                              .bias = shift,
                              .number = eps}));
  }

  KerasValue embedding() {
    const std::int64_t rows = count_at(config_, "input_dim", layer_.place),
                       units = count_at(config_, "output_dim", layer_.place);
    if (width() != 1 || g_[in()].kind != StepKind::input)
      refuse("is supported as the first layer, of one number a step.");
    if (flag(config_, "mask_zero", false)) unmasked();
    const int table = weight(path("vars/0"), weights_.take(path("vars/0"), {rows, units}, Dtype::f64));
    return like_input(
        g_.add({.kind = StepKind::embedding, .inputs = {in()}, .width = units, .weight = table}));
  }

  // ---- Several inputs, and time ----

  KerasValue joined() {
    const std::string& type = layer_.type;
    for (const KerasValue& input : inputs_)
      if (input.is_last != inputs_[0].is_last) refuse("combines values of all steps with a value of one.");
    if (type == "Concatenate") {
      check_last_axis("axis");
      std::vector<int> parts;
      for (const KerasValue& input : inputs_) parts.push_back(input.value);
      return like_input(g_.concat(parts));
    }
    const std::string function = type == "Subtract"   ? "-"
                                 : type == "Multiply" ? "*"
                                 : type == "Maximum"  ? "maximum"
                                 : type == "Minimum"  ? "minimum"
                                                      : "+";
    int result = in();
    for (std::size_t i = 1; i < inputs_.size(); ++i) {
      const std::int64_t a = g_.width(result), b = g_.width(inputs_[i].value);
      if (a != b && a != 1 && b != 1) refuse(text_of("combines ", a, " numbers with ", b, "."));
      result = g_.element(function, result, inputs_[i].value);
    }
    return like_input(type == "Average" ? g_.scaled(result, 1.0 / static_cast<double>(inputs_.size()))
                                        : result);
  }

  KerasValue pooled() {
    if (inputs_[0].is_last) refuse("reads one step.");
    if (text(config_, "data_format", "channels_last") != "channels_last" || flag(config_, "keepdims", false))
      refuse("is supported over time, without keepdims.");
    const bool is_mean = layer_.type == "GlobalAveragePooling1D";
    return {g_.add({.kind = StepKind::over_time,
                    .function = is_mean ? "mean" : "maximum",
                    .inputs = {in()},
                    .width = width()}),
            true};
  }

  const KerasLayerEntry& layer_;
  const Json& config_;
  std::vector<KerasValue> inputs_;
  TensorReader& weights_;
  StepGraph& g_;
  std::vector<std::string>& notes_;
};

}  // namespace

KerasValue keras_output(const KerasLayerEntry& layer, const std::vector<KerasValue>& inputs,
                        TensorReader& weights, StepGraph& graph, std::vector<std::string>& notes) {
  return LayerReader(layer, inputs, weights, graph, notes).read();
}

}  // namespace lagtape::foreign
