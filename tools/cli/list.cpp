#include <fmt/core.h>

#include <algorithm>
#include <sstream>

#include "lagtape/core/error.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/train/catalogue.h"

namespace lagtape::cli {

namespace {

void print_short(const CatalogueKind& kind) {
  fmt::print("{}\n", kind.name);
  for (const CatalogueEntry& row : kind.entries()) fmt::print("  {:<22}{}\n", row.name, row.summary);
}

/// Prints a text of several lines, indented.
void print_lines(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) fmt::print("  {}\n", line);
}

void print_long(const CatalogueEntry& row) {
  fmt::print("{}: {}\n", row.name, row.summary);
  if (!row.source.empty()) fmt::print("source: {}\n", row.source);
  print_lines(row.equations);
  if (!row.files.empty()) fmt::print("files\n");
  print_lines(row.files);
  if (!row.options.empty()) fmt::print("options\n");
  std::size_t width = 13;
  for (const OptionDoc& option : row.options) width = std::max(width, option.key.size());
  for (const OptionDoc& option : row.options) {
    const std::string fallback = option.fallback.empty() ? "required" : "default " + option.fallback;
    fmt::print("  {:<{}} {} ({}, {})\n", option.key, width, option.about, option.type, fallback);
  }
}

struct ListArguments {
  std::string kind, name;
};

void add_options(Options& options, ListArguments& arguments) {
  options.add(
      "KIND", &arguments.kind,
      "cells, functions, layers, readout, initializers, tasks, losses, metrics, optimizers, schedules or "
      "training; by default all");
  options.add("NAME", &arguments.name, "one of them, to print its equations and options");
}

void run(const ListArguments& arguments) {
  if (arguments.kind.empty()) {
    for (const CatalogueKind& kind : catalogue()) print_short(kind);
    return;
  }
  std::vector<std::string> kinds;
  for (const CatalogueKind& kind : catalogue()) kinds.emplace_back(kind.name);
  const auto kind = std::find(kinds.begin(), kinds.end(), arguments.kind);
  if (kind == kinds.end()) throw InputError(unknown_name("kind", arguments.kind, kinds));
  const CatalogueKind& chosen = catalogue()[static_cast<std::size_t>(kind - kinds.begin())];
  if (arguments.name.empty() && chosen.object) {
    for (const CatalogueEntry& row : chosen.entries()) print_long(row);
    return;
  }
  if (arguments.name.empty()) return print_short(chosen);
  std::vector<std::string> names;
  for (const CatalogueEntry& row : chosen.entries()) {
    if (row.name == arguments.name) return print_long(row);
    names.push_back(row.name);
  }
  if (chosen.object)
    throw InputError(text_of("'", chosen.name, "' has no names such as '", arguments.name, "'."));
  throw InputError(unknown_name(arguments.kind, arguments.name, names));
}

}  // namespace

Command list_command() {
  return make_command<ListArguments>(
      "list", "List the cells, tasks, losses and all else that an experiment may name", add_options, run);
}

}  // namespace lagtape::cli
