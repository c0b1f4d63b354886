#include "lagtape/tools/python/src/given_experiment.h"

namespace lagtape::python {

Experiment GivenExperiment::read() const {
  return text ? parse_experiment(*text, place, ".", set) : read_experiment(place, set, row);
}

Source GivenExperiment::load(ThreadPool& pool) const {
  return text ? untrained(read(), pool) : load_source(place, set, pool, row);
}

}  // namespace lagtape::python
