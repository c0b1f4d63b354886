#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/core/json/schema.h"
#include "lagtape/core/quote.h"
#include "lagtape/core/text_lines.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/common_options.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/cli/terminal/wrapped_text.h"
#include "lagtape/tools/train/catalogue.h"

namespace lagtape::cli {

namespace {

void print_short(const CatalogueKind& kind) {
  print("{}\n", kind.name);
  const int width = terminal_width(STDOUT_FILENO);
  for (const CatalogueEntry& row : kind.entries())
    print("  {:<22}{}\n", row.name, wrapped(row.summary, 24, width));
}

/// Prints a text of several lines, indented.
void print_lines(const std::string& text) {
  std::string_view rest = text;
  const int columns = terminal_width(STDOUT_FILENO);
  for (std::string line; take_line(rest, line);) {
    const bool fits = std::ssize(line) + 2 <= columns;
    print("  {}\n", fits ? line : wrapped(line, 6, columns));
  }
}

void print_long(const CatalogueEntry& row) {
  const int columns = terminal_width(STDOUT_FILENO);
  print("{}\n", wrapped(text_of(row.name, ": ", row.summary), 2, columns));
  if (!row.source.empty()) print("{}\n", wrapped("source: " + row.source, 2, columns));
  print_lines(row.equations);
  if (!row.files.empty()) print("files\n");
  print_lines(row.files);
  if (!row.options.empty()) print("options\n");
  std::size_t width = 13;
  for (const OptionDoc& option : row.options) width = std::max(width, option.key.size());
  for (const OptionDoc& option : row.options) {
    const std::string fallback = option.fallback.empty() ? "required" : "default " + option.fallback;
    const std::string text = text_of(option.about, " (", type_words(option.schema),
                                     option.unit.empty() ? "" : " " + option.unit, ", ", fallback, ")");
    print("  {:<{}} {}\n", option.key, width, wrapped(text, width + 3, columns));
  }
}

struct ListArguments {
  std::string kind, name;
};

void add_options(Options& options, ListArguments& arguments) {
  options
      .add(
          "KIND", &arguments.kind,
          "cells, functions, layers, readout, initializers, tasks, losses, metrics, optimizers, schedules or "
          "training; by default all")
      .suggests([] {
        std::vector<std::string> kinds;
        for (const CatalogueKind& kind : catalogue()) kinds.emplace_back(kind.name);
        return kinds;
      });
  options.add("NAME", &arguments.name, "one of them, to print its equations and options").suggests([] {
    return names_in({});
  });
}

/// Throws InputError with the nearest kind, or with the kinds in which there is such a name.
[[noreturn]] void refuse_kind(const std::string& given) {
  std::vector<std::string> kinds, places;
  for (const CatalogueKind& kind : catalogue()) {
    kinds.emplace_back(kind.name);
    for (const CatalogueEntry& row : kind.entries())
      if (row.name == given && !kind.object)
        places.push_back(text_of("`lagtape list ", kind.name, " ", given, "`"));
  }
  if (places.empty()) throw InputError(unknown_name("kind", given, kinds));
  throw unexpected({}, Rule::missing, text_of("a kind before a name: ", listed(places)));
}

/// A kind's name for one of its entries.
std::string singular(const std::string& kind) {
  return kind == "losses" ? "loss" : kind.substr(0, kind.size() - 1);
}

void run(const ListArguments& arguments) {
  if (arguments.kind.empty()) {
    for (const CatalogueKind& kind : catalogue()) print_short(kind);
    return;
  }
  const auto found = std::ranges::find_if(
      catalogue(), [&](const CatalogueKind& kind) { return kind.name == arguments.kind; });
  if (found == catalogue().end()) refuse_kind(arguments.kind);
  const CatalogueKind& chosen = *found;
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
    throw InputError({}, Rule::unknown_name, text_of("'", chosen.name, "' has no names"),
                     quote(arguments.name));
  throw InputError(unknown_name(singular(arguments.kind), arguments.name, names));
}

}  // namespace

Command list_command() {
  return make_command<ListArguments>(
      "list", "List the cells, tasks, losses and all else that an experiment may name", add_options, run,
      {{"lagtape list", "everything that an experiment may name"},
       {"lagtape list cells tau_gru", "the equations and options of a cell"},
       {"lagtape list tasks mnist", "where its files are"}});
}

}  // namespace lagtape::cli
