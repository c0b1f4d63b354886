#include "lagtape/optim/onednn_product.h"

#include <dnnl.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "lagtape/core/error.h"

namespace lagtape {
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

}  // namespace lagtape
