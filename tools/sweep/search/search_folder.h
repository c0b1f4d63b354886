#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "lagtape/tools/sweep/search/search.h"

namespace lagtape::search {

/// Creates the folder of a search, or checks that the search in it is this one; more runs and more repetitions
/// than before do not count as a difference. Throws InputError with the first difference.
void begin_folder(const SearchPlan& plan, const std::filesystem::path& out);

/// The runs of a search in DIR, in folders DIR/runs/NUMBER. Runs that have a folder or a recorded end are read.
std::vector<Trial> find_trials(const SearchPlan& plan, const std::filesystem::path& out);

/// Adds the next runs of a `tpe` search whose runs have all ended, and records their settings in the folder;
/// none if all runs exist, or if the ranges are exhausted.
void draw_more(const SearchPlan& plan, const std::filesystem::path& out, std::vector<Trial>& trials);

/// The repetitions of the best runs with the seeds 1, 2, ... after the experiment's own, in
/// DIR/runs/NUMBER-seedS, and finished repetitions of other runs in the folder.
std::vector<Trial> find_repetitions(const SearchPlan& plan, const std::filesystem::path& out,
                                    const std::vector<Trial>& trials, std::span<const std::size_t> best);

/// Writes results.jsonl, one line per run that was started. It is rebuilt from the run folders each time, so
/// neither a kill nor another process can leave it wrong for long. Its lines are not entries of table::Results,
/// which outlive their folders, are added once and never change, and are tied to an experiment by its hash:
/// those need all facts from the folder, and a wrong one is rejected, while these need a name and settings.
/// Both contain seed, state, metric, value, seconds and message.
void write_results(const SearchPlan& plan, const std::filesystem::path& out,
                   const std::vector<Trial>& trials);

/// A search's results.jsonl, and its metric, without the numbers that only training needs. Throws InputError
/// for a line whose name, state or settings are invalid.
SearchResult read_results(const std::filesystem::path& out, sweep::Plan& plan);

/// One JSON object per run, as in results.jsonl.
Json json_of(const sweep::Plan& plan, const Trial& trial);

/// Points the link `best` to the folder of a run.
void link_best(const std::filesystem::path& out, const Trial& trial);

}  // namespace lagtape::search
