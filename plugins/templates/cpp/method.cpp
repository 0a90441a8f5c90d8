// The method @NAME@: the product row by row from CSR, with the rows divided among the threads.
#include "spmv_method.h"

#include <exception>
#include <memory>

namespace {

// A matrix that was prepared.
class Product {
  public:
    Product(const spmv_ctx *ctx, const spmv_csr *csr) : ctx(ctx), csr(csr) {}
    virtual ~Product() = default;
    virtual int multiply(double alpha, const void *x, double beta, void *y) = 0;

  protected:
    const spmv_ctx *ctx;
    const spmv_csr *csr;
};

// The product in one precision.
template <typename T> class Rows : public Product {
  public:
    using Product::Product;

    int multiply(double alpha, const void *x, double beta, void *y) override {
        this->alpha = static_cast<T>(alpha), this->beta = static_cast<T>(beta);
        this->x = static_cast<const T *>(x), this->y = static_cast<T *>(y);
        return ctx->parallel(ctx, [](void *self, uint32_t rank) { static_cast<Rows *>(self)->share(rank); }, this);
    }

  private:
    // Computes the rows of one thread. With beta = 0, y is not read.
    void share(uint32_t rank) const {
        const auto *offsets = static_cast<const int32_t *>(csr->row_offsets);
        const auto *columns = static_cast<const int32_t *>(csr->column_indices);
        const auto *values = static_cast<const T *>(csr->values);
        const int64_t begin = csr->rows * rank / ctx->threads, end = csr->rows * (rank + 1) / ctx->threads;
        for (int64_t row = begin; row < end; row++) {
            T sum = 0;
            for (int32_t k = offsets[row]; k < offsets[row + 1]; k++) sum += values[k] * x[columns[k]];
            y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
        }
    }

    T alpha = 0, beta = 0;
    const T *x = nullptr;
    T *y = nullptr;
};

// No exception may leave a function that the program calls.
int prepare(const spmv_ctx *ctx, const spmv_csr *csr, void **handle) {
    try {
        std::unique_ptr<Product> product;
        if (csr->precision == SPMV_F64)
            product = std::make_unique<Rows<double>>(ctx, csr);
        else
            product = std::make_unique<Rows<float>>(ctx, csr);
        *handle = product.release();
        return SPMV_OK;
    } catch (const std::exception &error) {
        ctx->explain(ctx, error.what());
        return SPMV_ERROR;
    }
}

int multiply(void *handle, double alpha, const void *x, double beta, void *y) {
    return static_cast<Product *>(handle)->multiply(alpha, x, beta, y);
}

// The memory of `new` is not counted by the program, so the method states it: the matrix is not stored again.
int info(void *, spmv_info *info) {
    info->extra_bytes = 0;
    return SPMV_OK;
}

void destroy(void *handle) { delete static_cast<Product *>(handle); }

const spmv_method method = {
    SPMV_ABI,
    sizeof(spmv_method),
    "@NAME@",            // name
    "0.1",               // version
    "your paper",        // source
    nullptr,             // license
    "CSR row by row, the rows divided among the threads", // summary
    SPMV_F64 | SPMV_F32, // flags
    nullptr,             // parameters
    prepare,
    multiply,
    info,
    destroy,
};

} // namespace

extern "C" const spmv_method *spmv_method_v1(unsigned index) { return index == 0 ? &method : nullptr; }
