// A plug-in whose product throws an exception.
#include "spmv_method.h"

#include <stdexcept>

static int prepare(const spmv_ctx *, const spmv_csr *, void **) { return SPMV_OK; }

static int multiply(void *, double, const void *, double, void *) { throw std::runtime_error("no product"); }

static const spmv_method throwing = {SPMV_ABI, sizeof(spmv_method), "throws", nullptr, "a test", nullptr,
                                     "throws an exception", SPMV_F64, nullptr, prepare, multiply, nullptr, nullptr};

extern "C" const spmv_method *spmv_method_v1(unsigned index) { return index ? nullptr : &throwing; }
