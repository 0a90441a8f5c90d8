// Kokkos Kernels: KokkosSparse::spmv with OpenMP. The matrix is a view of the CSR arrays.
#include "threads.h"

#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_spmv.hpp>
#include <Kokkos_Core.hpp>
#include <memory>

namespace {

using Space = Kokkos::OpenMP;
using Device = Kokkos::Device<Space, Kokkos::HostSpace>;
using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;

struct Product {
    virtual ~Product() = default;
    virtual void multiply(double alpha, const void *x, double beta, void *y) = 0;
};

template <typename T> struct View final : Product {
    template <typename U> using Array = Kokkos::View<U *, Device, Unmanaged>;
    using Matrix = KokkosSparse::CrsMatrix<const T, const int32_t, Device, Unmanaged, const int32_t>;
    const Matrix matrix;
    const bool transpose;

    View(const spmv_ctx *ctx, const spmv_csr *csr)
        : matrix("A", csr->cols, Array<const T>(static_cast<const T *>(csr->values), csr->nnz),
                 typename Matrix::staticcrsgraph_type(
                     Array<const int32_t>(static_cast<const int32_t *>(csr->column_indices), csr->nnz),
                     Array<const int32_t>(static_cast<const int32_t *>(csr->row_offsets), csr->rows + 1))),
          transpose(ctx->transpose) {}

    void multiply(double alpha, const void *x, double beta, void *y) override {
        const Array<const T> from(static_cast<const T *>(x), transpose ? matrix.numRows() : matrix.numCols());
        const Array<T> to(static_cast<T *>(y), transpose ? matrix.numCols() : matrix.numRows());
        // The transposed product multiplies the old y by beta even if that is 0, so it must not contain NaN.
        if (transpose && beta == 0) Kokkos::deep_copy(Space(), to, T(0));
        KokkosSparse::spmv(transpose ? "T" : "N", static_cast<T>(alpha), matrix, from, static_cast<T>(beta), to);
    }
};

int prepare(const spmv_ctx *ctx, const spmv_csr *csr, void **handle) {
    try {
        const int threads = static_cast<int>(ctx->threads);
        const auto has_others = [=] { return Kokkos::is_initialized() && Space().concurrency() != threads; };
#if KOKKOS_VERSION < 30700 // Later ones end the process if Kokkos begins again.
        if (has_others()) Kokkos::finalize();
#endif
        if (has_others()) {
            ctx->explain(ctx, "this version of Kokkos keeps the number of threads of its first use");
            return SPMV_UNSUITABLE;
        }
        bind_threads(ctx);
        if (!Kokkos::is_initialized()) {
            setenv("KOKKOS_DISABLE_WARNINGS", "1", 0);
            Kokkos::initialize();
        }
        std::unique_ptr<Product> product;
        if (csr->precision == SPMV_F64)
            product = std::make_unique<View<double>>(ctx, csr);
        else
            product = std::make_unique<View<float>>(ctx, csr);
        *handle = product.release();
        return SPMV_OK;
    } catch (const std::exception &error) {
        ctx->explain(ctx, error.what());
        return SPMV_ERROR;
    }
}

int multiply(void *handle, double alpha, const void *x, double beta, void *y) {
    static_cast<Product *>(handle)->multiply(alpha, x, beta, y);
    return SPMV_OK;
}

int info(void *, spmv_info *info) {
    static const std::string version = "Kokkos Kernels with Kokkos " + std::to_string(KOKKOS_VERSION / 10000) + "." +
                                       std::to_string(KOKKOS_VERSION / 100 % 100) + "." +
                                       std::to_string(KOKKOS_VERSION % 100) + " " + Space::name();
    info->extra_bytes = 0;
    info->library = version.c_str();
    return SPMV_OK;
}

void destroy(void *handle) { delete static_cast<Product *>(handle); }

const spmv_method method = {SPMV_ABI,
                            sizeof(spmv_method),
                            "kokkos-kernels",
                            nullptr,
                            "Kokkos Kernels, KokkosSparse::spmv",
                            "BSD-3-Clause",
                            "Kokkos Kernels' spmv of a CrsMatrix, on a view of CSR",
                            SPMV_F64 | SPMV_F32 | SPMV_TRANSPOSED,
                            nullptr,
                            prepare,
                            multiply,
                            info,
                            destroy};

} // namespace

extern "C" const spmv_method *spmv_method_v1(unsigned index) { return index == 0 ? &method : nullptr; }
