#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "lagtape/tools/sweep/search/search.h"

namespace lagtape::search {

/// Makes the folder of a search, or checks that the search in it is this one; more runs and more repetitions than
/// before are no difference. Throws InputError that names the first difference.
void begin_folder(const SearchPlan& plan, const std::filesystem::path& out);

/// The runs of a search in DIR, in folders DIR/runs/NUMBER. Those whose folder or end is there are looked at.
std::vector<Trial> find_trials(const SearchPlan& plan, const std::filesystem::path& out);

/// Adds the next runs of a search by `tpe`, whose runs have all ended, and notes their settings in the folder: none where
/// all are there, or where the ranges are used up.
void draw_more(const SearchPlan& plan, const std::filesystem::path& out, std::vector<Trial>& trials);

/// The repetitions of the best runs with the seeds 1, 2, ... after the experiment's own, in DIR/runs/NUMBER-seedS, and
/// those of others that the folder has and that are done.
std::vector<Trial> find_repetitions(const SearchPlan& plan, const std::filesystem::path& out,
                                    const std::vector<Trial>& trials, std::span<const std::size_t> best);

/// Writes results.jsonl, one line a run that was begun. It is made from the run folders each time, so that neither a
/// kill nor another process can leave it wrong for long. Its lines are no entries of table::Results, which outlive their
/// folders, are added once and never change, and belong to an experiment by its hash: those need all that the folder has,
/// and a wrong one is refused, while these need a name and settings. They have seed, state, metric, value, seconds and message
/// in common.
void write_results(const SearchPlan& plan, const std::filesystem::path& out,
                   const std::vector<Trial>& trials);

/// What the results.jsonl of a search says, and by which metric, without the numbers that only a training needs. Throws
/// InputError for a line whose name, state or settings are none.
SearchResult read_results(const std::filesystem::path& out, sweep::Plan& plan);

/// One JSON object a run, as in results.jsonl.
Json json_of(const sweep::Plan& plan, const Trial& trial);

/// Points the link `best` to the folder of a run.
void link_best(const std::filesystem::path& out, const Trial& trial);

}  // namespace lagtape::search
