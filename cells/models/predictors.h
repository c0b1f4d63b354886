#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "lagtape/cells/models/chain.h"
#include "lagtape/core/thread_pool.h"

namespace lagtape {

/// Everything that one prediction needs at a time: the operations of evaluation, compiled and with their
/// memory, and the threads that they share.
struct Predictor {
  Chain chain;
  ThreadPool pool;

  Predictor(const ChainDefinition& definition, Dtype dtype, int threads)
      : chain(definition, dtype, {}), pool(threads) {}
};

/// The idle predictors of a model. A caller removes one, so that no two callers share it, and returns it afterwards:
/// there are as many as the most concurrent callers so far. Safe to share between threads.
class Predictors {
 public:
  /// A predictor with so many threads; null when none is idle.
  std::unique_ptr<Predictor> take(int threads);
  void put_back(std::unique_ptr<Predictor> predictor);
  /// Drops all of them, after a change of the model that they have copied.
  void clear();

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Predictor>> idle_;
};

}  // namespace lagtape
