// The scalar twin packs a matrix row by row, k rows of padded columns, and sums with the simplest loops.

#include <bit>

#include "lagtape/core/simd/scalar_vector.h"
#include "lagtape/ops/kernels/element.inc.h"
#include "lagtape/ops/kernels/grid.h"
#include "lagtape/ops/kernels/kernels.h"

namespace lagtape {
namespace {

template <class T>
T multiply_add(bool fused, T a, T b, T c) {
  return fused ? std::fma(a, b, c) : a * b + c;
}

template <class T>
void twin_pack_part(T* packed, std::int64_t, std::int64_t total_columns, std::int64_t first_k,
                    std::int64_t first_column, const T* b, std::int64_t k, std::int64_t columns,
                    std::int64_t row_stride, std::int64_t column_stride) {
  for (std::int64_t i = 0; i < k; ++i) {
    for (std::int64_t j = 0; j < padded<T>(columns); ++j) {
      packed[(first_k + i) * padded<T>(total_columns) + first_column + j] =
          j < columns ? b[i * row_stride + j * column_stride] : T(0);
    }
  }
}

template <class T>
void twin_pack(T* packed, const T* b, std::int64_t k, std::int64_t columns, std::int64_t row_stride,
               std::int64_t column_stride) {
  twin_pack_part(packed, k, columns, 0, 0, b, k, columns, row_stride, column_stride);
}

template <class T, bool fused>
void twin_product(const Product<T>& product) {
  for (std::int64_t i = 0; i < product.rows; ++i) {
    for (std::int64_t j = 0; j < product.columns; ++j) {
      T sum = 0;
      const T* b = product.packed + j;
      for (std::int64_t o = 0; o < product.operand_count; ++o) {
        const ProductOperand<T>& left = product.operands[o];
        for (std::int64_t e = 0; e < left.k; ++e, b += product.columns) {
          sum = multiply_add(fused, left.a[i * left.lda + e], *b, sum);
        }
      }
      const std::int64_t group = j / kLane<T>;
      product.out[group][i * product.ldc[group] + j % kLane<T>] = sum;
    }
  }
}

template <class T>
T element_of(const MatrixRows<T>& a, std::int64_t row, std::int64_t i) {
  if (!a.rounded) return a.at[row * a.stride + i];
  const auto saved = reinterpret_cast<const SavedElement<T>*>(a.at)[row * a.stride + i];
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<float>(static_cast<std::uint32_t>(saved) << 16);
  else
    return saved;
}

template <class T, bool fused>
void twin_add_scaled_sums(const ScaledSum<T>* sums, std::int64_t count, std::int64_t rows) {
  for (const ScaledSum<T>* s = sums; s != sums + count; ++s) {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t i = 0; i < s->n; ++i) {
        T& w = s->w[i * s->stride];
        w = multiply_add(fused, element_of(s->a, r, i), s->factor[r * s->ldf], w);
      }
    }
  }
}

template <class T>
void twin_sum_groups(T* out, const T* a, std::int64_t rows, std::int64_t groups, std::int64_t size) {
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t g = 0; g < padded<T>(groups); ++g) {
      T part[kLane<T>] = {};
      for (std::int64_t e = 0; e < size && g < groups; ++e) {
        part[e % kLane<T>] += a[i * padded<T>(groups * size) + g * size + e];
      }
      for (std::int64_t half = kLane<T> / 2; half > 0; half /= 2) {
        for (std::int64_t e = 0; e < half; ++e) part[e] += part[e + half];
      }
      out[i * padded<T>(groups) + g] = part[0];
    }
  }
}

template <class T>
void twin_broadcast_groups(T* out, const T* a, std::int64_t rows, std::int64_t groups, std::int64_t size) {
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t e = 0; e < padded<T>(groups * size); ++e) {
      out[i * padded<T>(groups * size) + e] = e < groups * size ? a[i * padded<T>(groups) + e / size] : T(0);
    }
  }
}

template <class T, bool fused>
void twin_scale_column(T* out, const T* x, std::int64_t ldx, const T* column, const T* c, std::int64_t rows,
                       std::int64_t width) {
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < width; ++j) {
      const std::int64_t at = i * width + j;
      out[at] = c == nullptr ? x[i * ldx] * column[j] : multiply_add(fused, x[i * ldx], column[j], c[at]);
    }
  }
}

template <class T, bool fused>
void twin_update_traces(const TraceUpdate<T>& u) {
  for (std::int64_t j = 0; j < u.k && u.backward != nullptr; ++j) {
    T lanes[kLane<T>] = {};
    for (std::int64_t i = 0; i < u.columns; ++i)
      lanes[i % kLane<T>] = multiply_add(fused, u.direct[i], u.w[j * u.columns + i], lanes[i % kLane<T>]);
    for (int half = kLane<T> / 2; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
    u.backward[j] = lanes[0];
  }
  for (std::int64_t j = 0; j < u.k; ++j) {
    for (std::int64_t i = 0; i < u.columns; ++i) {
      const std::int64_t at = j * u.columns + i;
      T old[TraceUpdate<T>::kMostStates], &w = u.w[at];
      for (int s = 0; s < u.states; ++s) old[s] = u.traces[s][at];
      for (int s = 0; s < u.states && u.before[0] != nullptr; ++s)
        w = multiply_add(fused, u.before[s][i], old[s], w);
      for (int s = 0; s < u.states; ++s) {
        T& after = u.traces[s][at];
        after = u.carry[s * u.states][i] * old[0];
        for (int r = 1; r < u.states; ++r)
          after = multiply_add(fused, u.carry[s * u.states + r][i], old[r], after);
        after = multiply_add(fused, u.entry[s][i], u.x[j], after);
        w = multiply_add(fused, u.credit[s][i], after, w);
      }
      if (u.direct != nullptr) w = multiply_add(fused, u.direct[i], u.x[j], w);
    }
  }
}

template <class T>
void twin_add_on_grid(T* view, double* to, const double* from, const T* increment, double sign,
                      std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const double rounded = std::ldexp(std::nearbyint(std::ldexp(static_cast<double>(increment[i]), 32)), -32);
    to[i] = from[i] + sign * rounded;
    if (!(std::abs(to[i]) <= kGridLimit)) to[i] = std::numeric_limits<double>::quiet_NaN();
    view[i] = static_cast<T>(to[i]);
  }
}

template <class T, bool fused>
void twin_add_outer_products(const OuterProduct<T>* products, std::int64_t count, std::int64_t rows) {
  for (const OuterProduct<T>* p = products; p != products + count; ++p) {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t i = 0; i < p->m; ++i) {
        for (std::int64_t j = 0; j < p->n; ++j) {
          T& w = p->w[i * p->ldw + j];
          w = multiply_add(fused, element_of(p->d, r, i), p->x[r * p->ldx + j], w);
        }
      }
    }
  }
}

template <class T, bool fused>
const Kernels<T>& twin() {
  static const Kernels<T> table = [] {
    Kernels<T> twin{};
    twin.level = SimdLevel::generic;
    twin.fused = fused;
    fill_element_kernels<ScalarSimd<T, fused>>(twin);
    twin.pack = &twin_pack<T>;
    twin.pack_part = &twin_pack_part<T>;
    twin.product = &twin_product<T, fused>;
    twin.add_scaled_sums = &twin_add_scaled_sums<T, fused>;
    twin.sum_groups = &twin_sum_groups<T>;
    twin.broadcast_groups = &twin_broadcast_groups<T>;
    twin.scale_column = &twin_scale_column<T, fused>;
    twin.update_traces = &twin_update_traces<T, fused>;
    twin.add_on_grid = &twin_add_on_grid<T>;
    twin.add_outer_products = &twin_add_outer_products<T, fused>;
    return twin;
  }();
  return table;
}

}  // namespace

template <class T>
const Kernels<T>& scalar_twin(bool fused) {
  return fused ? twin<T, true>() : twin<T, false>();
}

template const Kernels<float>& scalar_twin(bool);
template const Kernels<double>& scalar_twin(bool);

}  // namespace lagtape
