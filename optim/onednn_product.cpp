#include "lagtape/optim/onednn_product.h"

#include "lagtape/core/error.h"

#ifndef LAGTAPE_WITHOUT_ONEDNN
#include <dnnl.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#endif

namespace lagtape {

#ifdef LAGTAPE_WITHOUT_ONEDNN

void onednn_product(const LargeProduct&) {
  throw Error("[weight gradient] this program was built without oneDNN");
}

LargeProductFunction fastest_large_product() { return nullptr; }

#else

namespace {

/// Runs oneDNN on the calling thread alone: its own threads would compete with the workers.
class OneThread {
 public:
#ifdef _OPENMP
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }

 private:
  int before_;
#endif
};

}  // namespace

void onednn_product(const LargeProduct& p) {
  const OneThread one_thread;
  if (dnnl_sgemm('T', 'N', p.m, p.n, p.rows, 1, p.d, p.ldd, p.x, p.ldx, 1, p.w, p.ldw) != dnnl_success)
    throw Error("[weight gradient] oneDNN refused a product");
}

LargeProductFunction fastest_large_product() { return onednn_product; }

#endif

}  // namespace lagtape
