#pragma once

#include <filesystem>
#include <string>

#include "lagtape/core/thread_pool.h"

namespace lagtape::report {

struct ReportOptions {
  std::int64_t sequences = 4;  ///< number of test sequences whose gradients are followed back
  std::int64_t steps = 300;    ///< at most; the last steps of each
};

/// The page of a run folder: model and data, curves, metrics, predictions and the worst mistakes, the reach of
/// gradients, gates, memory and time, and how to repeat it. Parts that the folder or the data cannot provide
/// are omitted, and the page says why. Throws InputError for a folder that is not a run.
std::string run_page(const std::filesystem::path& run, ThreadPool& pool, const ReportOptions& options = {});

/// The page for a folder with runs: settings that differ, metrics, curves.
std::string folder_page(const std::filesystem::path& folder);

/// The page for a search: its runs in search order, repetitions of one with other seeds in one row, the metric
/// against each setting, and curves of the best.
std::string search_page(const std::filesystem::path& folder);

}  // namespace lagtape::report
