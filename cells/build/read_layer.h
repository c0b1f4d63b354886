#pragma once

#include <utility>
#include <vector>

#include "lagtape/cells/build/common_options.h"
#include "lagtape/cells/build/initial_values.h"
#include "lagtape/cells/build/layer_entry.h"
#include "lagtape/cells/build/option_kinds.h"
#include "lagtape/core/json/options.h"

namespace lagtape {

inline LayerGroup group_of(Layer layer) { return {{std::move(layer)}, false}; }
inline LayerGroup group_of(std::vector<Layer> layers) { return {std::move(layers), true}; }

/// The layer or layers that the options describe.
template <class Options>
BuildLayer build_of(const Options& options) {
  return [options](std::int64_t input) { return group_of(options.build(input)); };
}

// Functions for LayerEntry::read, made from an options struct with a table and `build`.

/// Reads the options of a layer that has only these.
template <class Options>
BuildLayer read_layer(JsonReader& reader) {
  Options options;
  read_options(reader, Options::kEntry.options, options);
  return build_of(options);
}

/// Reads the options of a layer with parameters, and "init".
template <class Options>
BuildLayer read_layer_with_init(JsonReader& reader) {
  const BuildLayer build = read_layer<Options>(reader);
  InitialValues init;
  read_options(reader, kInitOption, init);
  return [build, init](std::int64_t input) {
    LayerGroup group = build(input);
    init.apply(group);
    return group;
  };
}

/// Reads the options of a cell, and those that all cells share. With `kArithmetic`, a cell's states are on the
/// grid unless the user chooses otherwise.
template <class Options>
BuildLayer read_cell(JsonReader& reader) {
  const BuildLayer build = read_layer<Options>(reader);
  CommonCellOptions common{.arithmetic = Arithmetic::real};
  if constexpr (requires { Options::kArithmetic; }) common.arithmetic = Options::kArithmetic;
  read_options(reader, kCommonCellOptions, common);
  return common.apply(build);
}

}  // namespace lagtape
