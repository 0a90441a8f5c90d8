// Eigen's product of a row-major sparse matrix and a dense vector, which uses OpenMP from 20000 nonzeros on. The matrix
// is a view of the CSR arrays, so nothing is converted. The transposed product of Eigen has one thread.
#include "threads.h"

#include <Eigen/SparseCore>
#include <memory>

namespace {

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

struct Product {
    virtual ~Product() = default;
    virtual void multiply(double alpha, const void *x, double beta, void *y) = 0;
};

template <typename T> struct View final : Product {
    using Matrix = Eigen::SparseMatrix<T, Eigen::RowMajor, int32_t>;
    using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
    Eigen::Map<const Matrix> matrix;
    const bool transpose;

    View(const spmv_ctx *ctx, const spmv_csr *csr)
        : matrix(csr->rows, csr->cols, csr->nnz, static_cast<const int32_t *>(csr->row_offsets),
                 static_cast<const int32_t *>(csr->column_indices), static_cast<const T *>(csr->values)),
          transpose(ctx->transpose) {}

    void multiply(double alpha, const void *x, double beta, void *y) override {
        const auto [inputs, outputs] = transpose ? std::pair(matrix.rows(), matrix.cols())
                                                 : std::pair(matrix.cols(), matrix.rows());
        const Eigen::Map<const Vector> from(static_cast<const T *>(x), inputs);
        Eigen::Map<Vector> to(static_cast<T *>(y), outputs);
        // With beta = 0, y is not read.
        if (beta == 0)
            to.setZero();
        else if (beta != 1)
            to *= static_cast<T>(beta);
        if (transpose)
            to.noalias() += static_cast<T>(alpha) * (matrix.transpose() * from);
        else
            to.noalias() += static_cast<T>(alpha) * (matrix * from);
    }
};

int prepare(const spmv_ctx *ctx, const spmv_csr *csr, void **handle) {
    try {
        bind_threads(ctx);
        Eigen::setNbThreads(static_cast<int>(ctx->threads));
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
    info->extra_bytes = 0;
    info->library = "Eigen " TEXT(EIGEN_WORLD_VERSION) "." TEXT(EIGEN_MAJOR_VERSION) "." TEXT(EIGEN_MINOR_VERSION);
    return SPMV_OK;
}

void destroy(void *handle) { delete static_cast<Product *>(handle); }

const spmv_method method = {SPMV_ABI,
                            sizeof(spmv_method),
                            "eigen",
                            nullptr,
                            "Eigen, Eigen::SparseMatrix<T, RowMajor> times a vector",
                            "MPL-2.0",
                            "Eigen's row-major sparse product with OpenMP, on a view of CSR",
                            SPMV_F64 | SPMV_F32 | SPMV_TRANSPOSED,
                            nullptr,
                            prepare,
                            multiply,
                            info,
                            destroy};

} // namespace

extern "C" const spmv_method *spmv_method_v1(unsigned index) { return index == 0 ? &method : nullptr; }
