#pragma once

#include <string>
#include <vector>

#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/train/experiment_reader.h"

namespace lagtape::cli {

/// A command's experiment file, and its changes by --set.
struct ExperimentArguments {
  std::string file, row;
  std::vector<std::string> set;
  void add_to(Options& options, const std::string& about = "experiment file (JSON)");

  /// Parses the file. Throws InputError; for a run or a recording, the error says what to give instead.
  ExperimentFile parse() const;
  /// Parses and reads the file with its changes. Throws InputError.
  Experiment read() const { return read_experiment(parse(), set); }
};

/// Adds --threads N, 1 to 1024; the default is the machine's number of hardware threads.
void add_threads(Options& options, int& threads);
/// The names of these kinds in the catalogue, such as "cells"; without a kind, all names.
std::vector<std::string> names_in(const std::vector<std::string>& kinds);
/// Adds --set, whose assignments change `what`, such as "a value of every run".
void add_set(Options& options, std::vector<std::string>& set, const std::string& what);
/// Adds --simd, an option of every command that computes.
void add_simd(Options& options);

}  // namespace lagtape::cli
