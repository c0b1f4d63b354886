#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <utility>

#include "lagtape/cells/build/common_options.h"
#include "lagtape/cells/build/initial_values.h"
#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

struct LayerContent;

/// A struct that holds the options of a cell or layer: TauGru, Lstm, Linear, ...
template <class T>
concept LayerOptions = requires(T options) {
  { T::kEntry } -> std::convertible_to<const LayerEntry&>;
  options.build(std::int64_t{1});
};

/// One entry of a model's layers, before the width of its input is known. It is made from an options struct,
/// optionally with the options that all cells share, initial values, or the inner cell.
///
///     TauGru{.units = 16, .tau = 10}
///     {Lstm{.units = 64}, {.residual = true}}
///     {LayerNorm{}, InitialValues{{{"gain", Initializer::constant(0.5)}}}}
///     {Bidirectional{.merge = "sum"}, Lstm{.units = 64}}
///
/// The options are checked as in a JSON file: the constructors throw InputError listing each wrong option.
/// Immutable; copies are cheap.
class LayerDefinition {
 public:
  template <LayerOptions Options>
  LayerDefinition(const Options& options) : LayerDefinition(Options::kEntry, &options) {}
  template <LayerOptions Options>
  LayerDefinition(const Options& options, const CommonCellOptions& common)
      : LayerDefinition(Options::kEntry, &options, &common) {}
  template <LayerOptions Options>
  LayerDefinition(const Options& options, const InitialValues& init)
      : LayerDefinition(Options::kEntry, &options, nullptr, &init) {}
  /// For a layer around another one: Bidirectional.
  template <LayerOptions Options>
  LayerDefinition(const Options& options, const LayerDefinition& inner)
      : LayerDefinition(Options::kEntry, &options, nullptr, nullptr, &inner) {}
  explicit LayerDefinition(std::shared_ptr<const LayerContent> content) : content_(std::move(content)) {}

  const std::string& name() const;  ///< "tau_gru"
  const LayerContent& content() const { return *content_; }

 private:
  LayerDefinition(const LayerEntry& entry, const void* options, const CommonCellOptions* common = nullptr,
                  const InitialValues* init = nullptr, const LayerDefinition* inner = nullptr);

  std::shared_ptr<const LayerContent> content_;
};

}  // namespace lagtape
