#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "lagtape/cells/models/chain.h"
#include "lagtape/core/thread_pool.h"

namespace lagtape {

/// Everything that one prediction at a time needs: the operations of evaluation, compiled and with their
/// memory, and the threads that they share.
struct Predictor {
  Chain chain;
  ThreadPool pool;

  Predictor(const ChainDefinition& definition, Dtype dtype, int threads)
      : chain(definition, dtype, {}), pool(threads) {}
};

/// The idle predictors of a model. A caller takes one out, so that no two callers share it, and puts it back
/// for the next: there are as many as there were ever callers at once. Safe to share between threads.
class Predictors {
 public:
  /// A predictor with so many threads; null when none is idle.
  std::unique_ptr<Predictor> take(int threads);
  void put_back(std::unique_ptr<Predictor> predictor);
  /// Forgets all of them, when the model has changed in what they have a copy of.
  void clear();

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Predictor>> idle_;
};

}  // namespace lagtape
