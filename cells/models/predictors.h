#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "lagtape/cells/models/chain.h"
#include "lagtape/core/thread_pool.h"

namespace lagtape {

/// Everything that one prediction needs exclusively: the operations of evaluation, compiled and with their
/// memory, and the threads that they share.
struct Predictor {
  Chain chain;
  ThreadPool pool;

  Predictor(const ChainDefinition& definition, Dtype dtype, int threads)
      : chain(definition, dtype, {}), pool(threads) {}
};

/// The idle predictors of a model. A caller removes one, so no two callers share it, and returns it afterwards:
/// there are as many as there have been concurrent callers. Safe to share between threads.
class Predictors {
 public:
  /// A predictor with so many threads; null if none is idle.
  std::unique_ptr<Predictor> take(int threads);
  void put_back(std::unique_ptr<Predictor> predictor);
  /// Drops all of them, after a change to the model, which they copied.
  void clear();

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Predictor>> idle_;
};

}  // namespace lagtape
