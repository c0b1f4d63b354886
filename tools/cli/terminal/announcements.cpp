#include "lagtape/tools/cli/terminal/announcements.h"

#include <cstdio>

#include "lagtape/core/byte_size.h"
#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/core/system_memory.h"
#include "lagtape/tools/cli/terminal/print.h"

namespace lagtape::cli {

void warn(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) note_text(text_of("warning: ", printable(warning), "\n"));
}

void tell(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) note_text(text_of("data: ", note, "\n"));
}

void warn_of_later_rows(const std::vector<std::string>& columns) {
  if (columns.empty()) return;
  warn({text_of("rows after the one at which a forecast begins are read of ", listed(columns, 5),
                columns.size() == 1 ? ", which is a past input" : ", which are past inputs",
                R"(. What is known then belongs to "future" in the experiment)")});
}

void announce_cost(const TrainingCost& cost) {
  if (is_large(cost)) note_text(text_of("memory: ", text_of_cost(cost), "\n"));
  warn_of_cost(cost);
}

void warn_of_cost(const TrainingCost& cost) {
  if (cost.training_bytes > system_memory())
    warn({text_of("a training takes more than the memory, which is ", bytes_of(system_memory()))});
}

void announce_beginning(const std::optional<KnownWords>& words,
                        const std::optional<InitialWeights>& weights) {
  if (words)
    note_text(text_of("vectors: ", words->known, " of ", words->all,
                      " words begin with a vector of the file, the others with random numbers\n"));
  if (!weights) return;
  std::string drawn;
  for (const std::string& name : weights->drawn) drawn += text_of(drawn.empty() ? "; drawn: " : ", ", name);
  note_text(text_of("init: ", weights->taken.size(), " of ", weights->taken.size() + weights->drawn.size(),
                    " parameters begin with those of ", weights->from, drawn, "\n"));
}

void announce_waiting(std::size_t runs) {
  note("waiting for {} {} that other processes are training\n", runs, runs == 1 ? "run" : "runs");
}

}  // namespace lagtape::cli
