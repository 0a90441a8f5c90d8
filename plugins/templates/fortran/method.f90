! The method @NAME@: the product row by row from CSR, on one thread. The types are those of spmv_method.h.
module spmv_types
  use, intrinsic :: iso_c_binding
  implicit none

  integer(c_int), parameter :: SPMV_OK = 0, SPMV_UNSUITABLE = 1, SPMV_ERROR = -1
  integer(c_int64_t), parameter :: SPMV_F64 = 1, SPMV_F32 = 2, SPMV_SEQUENTIAL = 8

  type, bind(c) :: spmv_csr
    integer(c_int32_t) :: size, precision, offset_bytes, index_bytes
    integer(c_int64_t) :: rows, cols, nnz
    type(c_ptr) :: row_offsets, column_indices, values
  end type

  type, bind(c) :: spmv_method
    integer(c_int32_t) :: abi, size
    type(c_ptr) :: name, version, source, license, summary
    integer(c_int64_t) :: flags
    type(c_ptr) :: parameters
    type(c_funptr) :: prepare, multiply, info, destroy
  end type
end module

module method
  use spmv_types
  implicit none

  ! A text of C ends with a zero character.
  character(len=80, kind=c_char), target, save :: name = '@NAME@' // c_null_char
  character(len=80, kind=c_char), target, save :: source = 'your paper' // c_null_char
  character(len=80, kind=c_char), target, save :: summary = 'CSR row by row, on one thread' // c_null_char
  type(spmv_method), target, save :: this

contains

  ! The handle is the address of the matrix, which stays valid until `destroy`. So there is nothing to release.
  integer(c_int) function prepare(ctx, csr, handle) bind(c, name='')
    type(c_ptr), value :: ctx, csr
    type(c_ptr) :: handle
    handle = csr
    prepare = SPMV_OK
  end function

  ! With beta = 0, y must not be read.
  integer(c_int) function multiply(handle, alpha, x, beta, y) bind(c, name='')
    type(c_ptr), value :: handle, x, y
    real(c_double), value :: alpha, beta
    type(spmv_csr), pointer :: csr
    call c_f_pointer(handle, csr)
    if (csr%precision == SPMV_F64) then
      call rows_f64(csr, alpha, x, beta, y)
    else
      call rows_f32(csr, real(alpha, c_float), x, real(beta, c_float), y)
    end if
    multiply = SPMV_OK
  end function

  subroutine rows_f64(csr, alpha, x_address, beta, y_address)
    type(spmv_csr), intent(in) :: csr
    real(c_double), intent(in) :: alpha, beta
    type(c_ptr), intent(in) :: x_address, y_address
    integer(c_int32_t), pointer :: offsets(:), columns(:)
    real(c_double), pointer :: values(:), x(:), y(:)
    real(c_double) :: total
    integer(c_int64_t) :: row, k
    call c_f_pointer(csr%row_offsets, offsets, [csr%rows + 1])
    call c_f_pointer(csr%column_indices, columns, [csr%nnz])
    call c_f_pointer(csr%values, values, [csr%nnz])
    call c_f_pointer(x_address, x, [csr%cols])
    call c_f_pointer(y_address, y, [csr%rows])
    do row = 1, csr%rows
      total = 0
      do k = offsets(row) + 1, offsets(row + 1)
        total = total + values(k) * x(columns(k) + 1)
      end do
      if (beta == 0) then
        y(row) = alpha * total
      else
        y(row) = alpha * total + beta * y(row)
      end if
    end do
  end subroutine

  subroutine rows_f32(csr, alpha, x_address, beta, y_address)
    type(spmv_csr), intent(in) :: csr
    real(c_float), intent(in) :: alpha, beta
    type(c_ptr), intent(in) :: x_address, y_address
    integer(c_int32_t), pointer :: offsets(:), columns(:)
    real(c_float), pointer :: values(:), x(:), y(:)
    real(c_float) :: total
    integer(c_int64_t) :: row, k
    call c_f_pointer(csr%row_offsets, offsets, [csr%rows + 1])
    call c_f_pointer(csr%column_indices, columns, [csr%nnz])
    call c_f_pointer(csr%values, values, [csr%nnz])
    call c_f_pointer(x_address, x, [csr%cols])
    call c_f_pointer(y_address, y, [csr%rows])
    do row = 1, csr%rows
      total = 0
      do k = offsets(row) + 1, offsets(row + 1)
        total = total + values(k) * x(columns(k) + 1)
      end do
      if (beta == 0) then
        y(row) = alpha * total
      else
        y(row) = alpha * total + beta * y(row)
      end if
    end do
  end subroutine

  ! Lists the methods: one, with number 0. It is the only exported function.
  type(c_ptr) function list(index) bind(c, name='spmv_method_v1')
    integer(c_int), value :: index
    list = c_null_ptr
    if (index /= 0) return
    this%abi = 1
    this%size = int(c_sizeof(this), c_int32_t)
    this%name = c_loc(name)
    this%version = c_null_ptr
    this%source = c_loc(source)
    this%license = c_null_ptr
    this%summary = c_loc(summary)
    this%flags = ior(ior(SPMV_F64, SPMV_F32), SPMV_SEQUENTIAL)
    this%parameters = c_null_ptr
    this%prepare = c_funloc(prepare)
    this%multiply = c_funloc(multiply)
    this%info = c_null_funptr
    this%destroy = c_null_funptr
    list = c_loc(this)
  end function
end module
