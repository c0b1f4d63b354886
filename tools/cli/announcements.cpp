#include "lagtape/tools/cli/announcements.h"

#include <cstdio>

#include "lagtape/core/byte_size.h"
#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/core/system_memory.h"

namespace lagtape::cli {

void warn(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings)
    std::fputs(text_of("warning: ", printable(warning), "\n").c_str(), stderr);
}

void tell(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) std::fputs(text_of("data: ", note, "\n").c_str(), stderr);
}

void announce_cost(const TrainingCost& cost) {
  if (is_large(cost)) std::fputs(text_of("memory: ", text_of_cost(cost), "\n").c_str(), stderr);
  if (cost.training_bytes > system_memory())
    warn({text_of("a training takes more than the memory, which is ", bytes_of(system_memory()))});
}

void announce_vectors(const KnownWords& words) {
  std::fputs(text_of("vectors: ", words.known, " of ", words.all,
                     " words begin with a vector of the file, the others with random numbers\n")
                 .c_str(),
             stderr);
}

void announce_weights(const InitialWeights& weights) {
  std::string drawn;
  for (const std::string& name : weights.drawn) drawn += text_of(drawn.empty() ? "; drawn: " : ", ", name);
  std::fputs(text_of("init: ", weights.taken.size(), " of ", weights.taken.size() + weights.drawn.size(),
                     " parameters begin with those of ", weights.from, drawn, "\n")
                 .c_str(),
             stderr);
}

}  // namespace lagtape::cli
