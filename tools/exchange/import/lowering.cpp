#include "lagtape/tools/exchange/import/lowering.h"

#include <map>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/tools/exchange/import/built_model.h"
#include "lagtape/tools/exchange/import/cell_equations.h"

namespace lagtape::foreign {
namespace {

/// Makes the definition of a model and the values of its parameters, layer by layer.
class Lowering {
 public:
  Lowering(const ForeignModel& foreign, const std::string& where) : foreign_(foreign), where_(where) {
    carry_ = {foreign.skip, true};
    width_ = foreign.input;
  }

  Model model(const std::string& name) {
    for (const ForeignLayer& layer : foreign_.layers) {
      const auto* recurrence = std::get_if<ForeignRecurrence>(&layer.content);
      carries_start_ = carries_start_ && (recurrence == nullptr || recurrence->directions.size() == 1);
    }
    const bool ends_in_map = !foreign_.layers.empty() && is_map(foreign_.layers.back());
    const std::size_t below = foreign_.layers.size() - (ends_in_map ? 1 : 0);
    for (std::size_t i = 0; i < below; ++i) add(foreign_.layers[i]);
    if (below == 0) throw InputError({where_}, Rule::missing, "there is no recurrent layer.");
    add_readout(ends_in_map ? &foreign_.layers.back() : nullptr);
    return built(name);
  }

 private:
  static bool is_map(const ForeignLayer& layer) {
    const auto* dense = std::get_if<ForeignDense>(&layer.content);
    return dense != nullptr && dense->function.empty() && !dense->W.empty();
  }

  void check_width(const ForeignLayer& layer, std::int64_t wanted) const {
    if (wanted == width_) return;
    throw InputError(
        {.file = where_, .item = layer.place}, Rule::shape,
        text_of("takes ", wanted, " numbers a step. ",
                layers_.empty() ? "The model's input has " : "The layer below gives ", width_, "."));
  }

  void add(const ForeignLayer& layer) {
    if (const auto* dense = std::get_if<ForeignDense>(&layer.content)) {
      add_dense(layer, *dense);
    } else if (const auto* entry = std::get_if<ForeignEntry>(&layer.content)) {
      add_entry(layer, *entry);
    } else {
      add_recurrence(layer, std::get<ForeignRecurrence>(layer.content));
    }
    width_ = width_after(layer, width_);
    carry_.from_inputs = false;
  }

  void add_dense(const ForeignLayer& layer, const ForeignDense& dense) {
    if (!dense.W.empty()) check_width(layer, dense.W.size(1));
    const std::string prefix = prefix_of_next();
    layers_.push_back(dense_layer(dense, width_after(layer, width_), carry_, cells_));
    if (!dense.W.empty()) values_[prefix + "W"] = dense.W;
    if (!dense.bias.empty()) values_[prefix + "W.bias"] = dense.bias;
  }

  void add_entry(const ForeignLayer& layer, const ForeignEntry& entry) {
    check_width(layer, entry.input);
    for (const auto& [name, value] : entry.values) values_[prefix_of_next() + name] = value;
    if (carries_start_)
      for (const std::int64_t width : entry.states)
        start_.states.push_back(Tensor({1, 1, width}, Dtype::f64));
    if (!entry.cell.empty()) cells_[entry.cell] = entry.equations;
    layers_.push_back(entry.layer);
  }

  void add_recurrence(const ForeignLayer& layer, const ForeignRecurrence& recurrence) {
    const std::string prefix = prefix_of_next();
    const Carry carry = recurrence.carry.count > 0 ? recurrence.carry : carry_;
    const std::int64_t beside = recurrence.carry.from_inputs ? 0 : recurrence.carry.count;
    for (const ForeignCell& cell : recurrence.directions) check_width(layer, cell.input + beside);
    if (recurrence.directions.size() == 1) {
      ForeignCell cell = recurrence.directions[0];
      if (carries_start_) take_start(cell);
      layers_.push_back(cell_layer(cell, carry, cells_));
      return add_values(prefix, cell);
    }
    if (carry_.count > 0)
      throw InputError({.file = where_, .item = layer.place}, Rule::not_supported,
                       "a skip connection around a bidirectional layer is not supported.");
    layers_.push_back(
        {{"layer", "bidirectional"}, {"cell", cell_layer(recurrence.directions[0], carry, cells_)}});
    add_values(prefix + "0.", recurrence.directions[0]);
    add_values(prefix + "1.", recurrence.directions[1]);
  }

  /// Moves a cell's first states into the model's.
  void take_start(ForeignCell& cell) {
    has_start_ = has_start_ || !cell.h0.empty() || !cell.c0.empty();
    const auto take = [&](Tensor& state) {
      const Tensor first = state.empty() ? Tensor({cell.units}, Dtype::f64) : state;
      start_.states.push_back(first.reshaped({1, 1, cell.units}));
      state = {};
    };
    take(cell.h0);
    if (cell.kind == CellKind::lstm) take(cell.c0);
  }

  void add_values(const std::string& prefix, const ForeignCell& cell) {
    const std::vector<std::string>& names = gates_of(cell.kind);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string gate = names[i].empty() ? "" : "_" + names[i];
      const GateWeights& weights = cell.gates[i];
      values_[text_of(prefix, "W", gate)] = weights.W;
      values_[text_of(prefix, "U", gate)] = weights.U;
      if (!weights.W_bias.empty()) values_[text_of(prefix, "W", gate, ".bias")] = weights.W_bias;
      if (!weights.U_bias.empty()) values_[text_of(prefix, "U", gate, ".bias")] = weights.U_bias;
    }
    if (!cell.h0.empty()) values_[prefix + "h0"] = cell.h0;
    if (!cell.c0.empty()) values_[prefix + "c0"] = cell.c0;
  }

  /// The read-out's matrix: that of the last map or the identity, and beside it a column for each carried input,
  /// which counts once.
  void add_readout(const ForeignLayer* layer) {
    const auto* map = layer != nullptr ? &std::get<ForeignDense>(layer->content) : nullptr;
    if (map != nullptr) check_width(*layer, map->W.size(1));
    const std::int64_t out = map != nullptr ? map->W.size(0) : width_, columns = width_ + carry_.count;
    if (carry_.count > 1 && carry_.count != out)
      throw InputError({where_}, Rule::not_supported,
                       text_of(carry_.count, " inputs cannot be added to ", out, " outputs."));
    Tensor W({out, columns}, Dtype::f64);
    for (std::int64_t r = 0; r < out; ++r) {
      for (std::int64_t c = 0; c < width_; ++c)
        W.set(r * columns + c, map != nullptr ? map->W.at(r * width_ + c) : r == c ? 1 : 0);
      if (carry_.count > 0) W.set(r * columns + width_ + (carry_.count > 1 ? r : 0), 1);
    }
    values_["readout.W"] = W;
    values_["readout.W.bias"] = map != nullptr && !map->bias.empty() ? map->bias : Tensor({out}, Dtype::f64);
    units_ = out;
  }

  std::string prefix_of_next() const { return text_of("layers.", layers_.size(), "."); }

  Model built(const std::string& name) const {
    Json model = {{"layers", layers_},
                  {"readout", {{"units", units_}, {"at", lagtape::name_of(foreign_.at)}}}};
    if (foreign_.rest) model["rest"] = {{"input", *foreign_.rest}};
    Json experiment = {{"name", name}, {"model", std::move(model)}, {"loss", foreign_.loss}};
    if (!cells_.empty()) experiment["cells"] = cells_;
    experiment["train"] = {{"precision", lagtape::name_of(foreign_.precision)}};
    Model result =
        built_model({std::move(experiment), foreign_.input, values_, foreign_.normalization}, where_);
    set_first_states(result);
    return result;
  }

  void set_first_states(Model& model) const {
    try {
      if (carries_start_ && has_start_) model.set_start(start_);
      if (foreign_.rest) model.settle(*foreign_.rest);
    } catch (const InputError& error) {
      throw error.within({where_});
    }
  }

  const ForeignModel& foreign_;
  const std::string& where_;
  Carry carry_;
  bool carries_start_ = true,
       has_start_ = false;  // a model of whole sequences has no window: h0 and c0 are weights
  Window start_;
  std::int64_t width_ = 0, units_ = 0;
  Json layers_ = Json::array(), cells_ = Json::object();
  std::map<std::string, Tensor> values_;
};

}  // namespace

Model lowered(const ForeignModel& foreign, const std::string& name, const std::string& where) {
  return Lowering(foreign, where).model(name);
}

}  // namespace lagtape::foreign
