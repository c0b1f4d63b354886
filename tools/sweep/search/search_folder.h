#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "lagtape/tools/sweep/search/search.h"

namespace lagtape::search {

/// Makes the folder of a search, or checks that the search in it is this one; more runs and more repetitions than
/// before do not count as a difference. Throws InputError that names the first difference.
void begin_folder(const SearchPlan& plan, const std::filesystem::path& out);

/// The runs of a search in DIR, in folders DIR/runs/NUMBER. Runs whose folder or end is there are read.
std::vector<Trial> find_trials(const SearchPlan& plan, const std::filesystem::path& out);

/// Adds the next runs of a search by `tpe`, whose runs have all ended, and notes their settings in the folder: none if
/// all exist, or if the ranges are exhausted.
void draw_more(const SearchPlan& plan, const std::filesystem::path& out, std::vector<Trial>& trials);

/// The repetitions of the best runs with the seeds 1, 2, ... after the experiment's own, in DIR/runs/NUMBER-seedS, and
/// those of others that the folder has and that are done.
std::vector<Trial> find_repetitions(const SearchPlan& plan, const std::filesystem::path& out,
                                    const std::vector<Trial>& trials, std::span<const std::size_t> best);

/// Writes results.jsonl, one line a run that was begun. It is made from the run folders each time, so that neither a
/// kill nor another process can leave it wrong for long. Its lines are not entries of table::Results, which outlive
/// their folders, are added once and never change, and belong to an experiment by its hash: those need all facts of the
/// folder, and a wrong one is refused, while these need a name and settings. They have seed, state, metric, value,
/// seconds and message in common.
void write_results(const SearchPlan& plan, const std::filesystem::path& out,
                   const std::vector<Trial>& trials);

/// The results.jsonl of a search, and its metric, without the numbers that only a training needs. Throws
/// InputError for a line whose name, state or settings are invalid.
SearchResult read_results(const std::filesystem::path& out, sweep::Plan& plan);

/// One JSON object a run, as in results.jsonl.
Json json_of(const sweep::Plan& plan, const Trial& trial);

/// Points the link `best` to the folder of a run.
void link_best(const std::filesystem::path& out, const Trial& trial);

}  // namespace lagtape::search
