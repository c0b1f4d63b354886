#pragma once

#include <span>
#include <string>
#include <vector>

#include "lagtape/core/json/json_reader.h"

namespace lagtape {

/// The texts of one entry of the catalogue.
struct CatalogueEntry {
  std::string name, summary, source = {}, equations = {};
  std::vector<OptionDoc> options = {};
  std::string files = {};  ///< the files that a task reads
};

/// Entries of one kind, such as the cells.
struct CatalogueKind {
  const char* name;
  std::vector<CatalogueEntry> (*entries)();
  bool object = false;  ///< an object in the experiment instead of a list of names
};

/// The settings of experiments, as in --set: "train.epochs", "model.layers.0.units", each once.
std::vector<std::string> setting_paths();

/// Everything that an experiment may refer to, as `lagtape list` shows it.
std::span<const CatalogueKind> catalogue();

}  // namespace lagtape
