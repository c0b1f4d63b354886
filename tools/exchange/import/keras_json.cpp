#include "lagtape/tools/exchange/import/keras_json.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_pointer.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/exchange/files/json_tensor.h"

namespace lagtape::foreign {
namespace {

/// The last number of a shape, the width of an input or an output.
std::int64_t width_at(const Json& parent, const char* key, const char* expected, const Place& place) {
  constexpr double kMost = 1 << 16;
  const Json& shape = array_at(parent, key, place);
  const Json last = shape.empty() ? Json() : shape[shape.size() - 1];
  if (!last.is_number_integer() || last.get<double>() < 1 || last.get<double>() > kMost)
    throw unexpected(part_of(place, key), Rule::shape, text_of(expected, ", with a width from 1 to ", kMost),
                     shortened(shape.dump()));
  return last.get<std::int64_t>();
}

/// One entry of "layers".
class KerasLayer {
 public:
  KerasLayer(const Json& json, std::int64_t input, Place place)
      : json_(json), input_(input), place_(std::move(place)) {}

  ForeignContent read() {
    if (!json_.is_object()) throw unexpected(place_, Rule::wrong_type, "an object");
    const std::string type = text_at(json_, "type", place_);
    const std::vector<std::string> known = {"lstm", "gru", "dense", "time-distributed-dense", "activation"};
    if (std::ranges::find(known, type) == known.end()) {
      throw unexpected(part_of(place_, "type"), Rule::not_supported,
                       text_of("a supported layer, one of ", listed(known)), quote(type));
    }
    check_keys(json_, {"type", "activation", "shape", "weights", "name"}, place_);
    read_units();
    if (json_.contains("weights")) {
      const Json& weights = array_at(json_, "weights", place_);
      for (std::size_t i = 0; i < weights.size(); ++i)
        weights_.push_back(tensor_of(weights[i], weights_place(i)));
    }
    if (type == "lstm") return lstm();
    if (type == "gru") return gru();
    if (type == "activation") return activation();
    return dense();
  }

 private:
  Place weights_place(std::size_t index) const { return part_of(part_of(place_, "weights"), text_of(index)); }

  void read_units() { units_ = width_at(json_, "shape", "the output's, like [null, null, 8]", place_); }

  void check_weights(std::size_t least, std::size_t most) const {
    if (weights_.size() < least || weights_.size() > most)
      throw unexpected(part_of(place_, "weights"), Rule::shape,
                       text_of(least, least < most ? text_of(" or ", most) : "", " arrays"),
                       text_of(weights_.size()));
  }
  void check(std::size_t index, const Shape& shape) const {
    check_shape(weights_[index], shape, weights_place(index));
  }

  /// The name of a function in equations; empty for none.
  std::string function(const std::vector<std::string>& known) const {
    const std::string name = json_.contains("activation") ? text_at(json_, "activation", place_) : "";
    if (name.empty() || name == "linear") return "";
    if (std::ranges::find(known, name) != known.end()) return name;
    throw InputError(unknown_name("activation", name, known).within(part_of(place_, "activation")));
  }

  /// Keras's kernel [input, G units], recurrent kernel [units, G units], and a bias where there is one.
  ForeignCell cell(CellKind kind, std::int64_t gates) const {
    check_weights(2, 3);
    check(0, {input_, gates * units_});
    check(1, {units_, gates * units_});
    function({"tanh"});  // it is tanh where it is not said, as in RTNeural
    ForeignCell cell;
    cell.kind = kind;
    cell.units = units_;
    cell.input = input_;
    return cell;
  }

  ForeignRecurrence lstm() const {
    ForeignCell result = cell(CellKind::lstm, 4);
    if (weights_.size() > 2) check(2, {4 * units_});
    result.gates = split_gates(CellKind::lstm, {"i", "f", "g", "o"}, transposed(weights_[1]),
                               transposed(weights_[0]), {}, weights_.size() > 2 ? weights_[2] : Tensor());
    return {{result}};
  }

  /// With a bias [2, 3 units] the reset gate multiplies the product (Keras's reset_after), of which the second row
  /// is the bias; with [3 units] it multiplies the state.
  ForeignRecurrence gru() const {
    ForeignCell result = cell(CellKind::gru, 3);
    if (weights_.size() < 3)
      throw InputError(part_of(place_, "weights"), Rule::missing,
                       "a gru without bias does not tell whether its reset gate comes before or after the "
                       "product.");
    result.resets_before = weights_[2].rank() == 1;
    const std::int64_t all = 3 * units_;
    check(2, result.resets_before ? Shape{all} : Shape{2, all});
    const Tensor bias = result.resets_before ? weights_[2] : rows_of(weights_[2], 0, 1).reshaped({all});
    const Tensor state_bias = result.resets_before ? Tensor() : rows_of(weights_[2], 1, 1).reshaped({all});
    result.gates = split_gates(CellKind::gru, {"z", "r", "n"}, transposed(weights_[1]),
                               transposed(weights_[0]), state_bias, bias);
    return {{result}};
  }

  ForeignDense dense() const {
    check_weights(1, 2);
    check(0, {input_, units_});
    if (weights_.size() > 1) check(1, {units_});
    return {transposed(weights_[0]), weights_.size() > 1 ? weights_[1] : Tensor(), function(kFunctions)};
  }

  ForeignDense activation() const {
    check_weights(0, 0);
    if (units_ != input_)
      throw unexpected(part_of(place_, "shape"), Rule::shape,
                       text_of("the activation's ", input_, " inputs as its width"), text_of(units_));
    return {{}, {}, function(kFunctions)};
  }

  inline static const std::vector<std::string> kFunctions = {"tanh", "sigmoid", "relu", "elu"};

  const Json& json_;
  std::int64_t input_, units_ = 0;
  Place place_;
  std::vector<Tensor> weights_;
};

/// The factor of a gain in dB; 1 where the key is missing.
double gain_at(const Json& root, const char* key, const std::string& where) {
  const Json* gain = root.find(key);
  if (gain == root.end()) return 1;
  if (!gain->is_number() || std::abs(gain->get<double>()) > 200)
    throw unexpected({.file = where, .pointer = pointer_part(key)}, Rule::out_of_range,
                     "a gain in dB, -200 to 200", gain->dump());
  return std::pow(10, gain->get<double>() / 20);
}

/// "in_skip", which is a number or a boolean.
bool skips(const Json& root, const std::string& where) {
  const Json* skip = root.find("in_skip");
  if (skip == root.end()) return false;
  if (skip->is_boolean()) return skip->get<bool>();
  if (skip->is_number_integer() && (skip->get<double>() == 0 || skip->get<double>() == 1))
    return skip->get<double>() == 1;
  throw unexpected({.file = where, .pointer = "/in_skip"}, Rule::out_of_range, "0 or 1", skip->dump());
}

}  // namespace

ForeignModel read_keras_json(const Json& root, const std::string& where) {
  ForeignModel model{.format = "rtneural"};
  model.input = width_at(root, "in_shape", "the input's, like [null, null, 1]", {where});
  const Json& layers = array_at(root, "layers", {where});
  std::int64_t width = model.input;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string pointer = text_of("/layers/", i);
    ForeignLayer layer{pointer, KerasLayer(layers[i], width, {.file = where, .pointer = pointer}).read()};
    width = width_after(layer, width);
    model.layers.push_back(std::move(layer));
  }
  if (skips(root, where)) model.skip = 1;
  const double in = gain_at(root, "in_gain", where), out = gain_at(root, "out_gain", where);
  const auto scaling = [](std::int64_t count, double scale) {
    return Scaling{std::vector<double>(count, 0), std::vector<double>(count, scale)};
  };
  if (in != 1) model.normalization.input = scaling(model.input, 1 / in);
  if (out != 1) model.normalization.output = scaling(width, out);
  return model;
}

}  // namespace lagtape::foreign
