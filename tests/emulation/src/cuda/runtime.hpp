// The emulation as compiled kernels see it: a thread's record at the top of its stack, the functions
// that the record leads to, and the hooks that the compiler calls before every access to memory.
#pragma once

#define EMU_BARE __attribute__((no_sanitize("thread", "undefined")))
#define EMU_INLINE inline __attribute__((always_inline))
#define EMU_HERE const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()

struct uint3 {
    unsigned x, y, z;
};

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

namespace emu {

using Bits = unsigned long long;
using Address = unsigned long;

struct Thread;

// Same order as `Table` in table.rs.
struct Table {
    void (*access)(const Thread *, Address, Address bytes, bool write, Address code);
    void (*interrupt)(const Thread *, Address code);
    void (*hand_over)(const Thread *, Address code);
    unsigned (*barrier)(const Thread *, const char *what, bool, const char *file, unsigned line);
    Bits (*collective)(const Thread *, const char *what, unsigned operation, unsigned mask, Bits value,
                       unsigned parameter, unsigned width, const char *file, unsigned line);
    void *(*shared)(const Thread *, unsigned key, Address bytes, const char *name);
    void *(*dynamic)(const Thread *);
    void (*misuse)(const Thread *, const char *what, const char *subject, const char *file,
                   unsigned line);
    long long (*clock)(const Thread *);
};

// The beginning of `Thread` in thread.rs.
struct Thread {
    uint3 index, block;
    dim3 block_shape, grid_shape;
    Address arena;
    const Table *table;
    int patience;
    unsigned wrote;
    unsigned polled;
    unsigned credit;
    unsigned lane;
};

// Stacks are aligned to their size, so any address in one leads to the record at its top. Records
// of different stacks lie at different distances from it, lest they compete for the same lines of
// the cache.
EMU_INLINE Thread *thread() {
    Address end = (reinterpret_cast<Address>(__builtin_frame_address(0)) | (EMU_STACK - 1)) + 1;
    return reinterpret_cast<Thread *>(end - EMU_RECORD - (end / EMU_STACK % 32) * EMU_COLOUR);
}

EMU_INLINE bool on_own_stack(Address address) {
    return (address ^ reinterpret_cast<Address>(__builtin_frame_address(0))) < EMU_STACK;
}

// The shadow lies behind the arena: a byte that is 1 for each byte that may be used.
template <class S> struct __attribute__((may_alias, packed)) Shadow {
    S bytes;
};

EMU_BARE __attribute__((noinline)) static void outside(Address address, Address bytes, bool write,
                                                       Address code) {
    if (!on_own_stack(address)) thread()->table->access(thread(), address, bytes, write, code);
}

EMU_BARE __attribute__((noinline)) static void interrupt(void *code) {
    thread()->table->interrupt(thread(), reinterpret_cast<Address>(code));
}

template <class S, bool WRITE> EMU_BARE EMU_INLINE void verify(void *pointer, void *code) {
    Address address = reinterpret_cast<Address>(pointer);
    constexpr S LIVE = static_cast<S>(0x0101010101010101);
    if (address - thread()->arena < EMU_ARENA - 16 &&
        reinterpret_cast<Shadow<S> *>(address + EMU_ARENA)->bytes == LIVE) [[likely]] {
        if (WRITE) thread()->wrote = 1;
        return;
    }
    outside(address, sizeof(S), WRITE, reinterpret_cast<Address>(code));
}

template <class S, bool WRITE> EMU_BARE EMU_INLINE void check(void *pointer, void *code) {
    if (--thread()->credit == 0) [[unlikely]] interrupt(code);
    verify<S, WRITE>(pointer, code);
}

template <bool WRITE> EMU_BARE inline void check_range(void *pointer, Address bytes, void *code) {
    char *first = static_cast<char *>(pointer);
    for (Address k = 0; k < bytes; ++k) check<unsigned char, WRITE>(first + k, code);
}

template <bool WRITE> EMU_BARE EMU_INLINE void check16(void *pointer, void *code) {
    check<Bits, WRITE>(pointer, code);
    check<Bits, WRITE>(static_cast<char *>(pointer) + 8, code);
}

EMU_BARE __attribute__((noinline)) static void hand_over(void *code) {
    thread()->table->hand_over(thread(), reinterpret_cast<Address>(code));
}

// Where another thread may take over; `patience` says how many such points away that is.
EMU_BARE EMU_INLINE void switch_point(void *code) {
    thread()->polled = 1;
    if (--thread()->patience <= 0) hand_over(code);
}

EMU_BARE __attribute__((noinline)) static void switch_point() {
    switch_point(__builtin_return_address(0));
}

} // namespace emu

#define EMU_HOOK(NAME, ...)                                                                          \
    extern "C" EMU_BARE __attribute__((used, noinline)) void __tsan_##NAME(void *p) {                \
        [[maybe_unused]] void *code = __builtin_return_address(0);                                   \
        __VA_ARGS__;                                                                                 \
    }
#define EMU_HOOKS(SIZE, ...)                                                                         \
    EMU_HOOK(read##SIZE, __VA_ARGS__<EMU_TYPE##SIZE false>(p, code))                                 \
    EMU_HOOK(write##SIZE, __VA_ARGS__<EMU_TYPE##SIZE true>(p, code))                                 \
    EMU_HOOK(unaligned_read##SIZE, __VA_ARGS__<EMU_TYPE##SIZE false>(p, code))                       \
    EMU_HOOK(unaligned_write##SIZE, __VA_ARGS__<EMU_TYPE##SIZE true>(p, code))                       \
    EMU_HOOK(volatile_read##SIZE, emu::switch_point(code); __VA_ARGS__<EMU_TYPE##SIZE false>(p, code))   \
    EMU_HOOK(volatile_write##SIZE, __VA_ARGS__<EMU_TYPE##SIZE true>(p, code))                        \
    EMU_HOOK(unaligned_volatile_read##SIZE, emu::switch_point(code);                                     \
             __VA_ARGS__<EMU_TYPE##SIZE false>(p, code))                                             \
    EMU_HOOK(unaligned_volatile_write##SIZE, __VA_ARGS__<EMU_TYPE##SIZE true>(p, code))

#define EMU_TYPE1 unsigned char,
#define EMU_TYPE2 unsigned short,
#define EMU_TYPE4 unsigned,
#define EMU_TYPE8 emu::Bits,
#define EMU_TYPE16
EMU_HOOKS(1, emu::check)
EMU_HOOKS(2, emu::check)
EMU_HOOKS(4, emu::check)
EMU_HOOKS(8, emu::check)
EMU_HOOKS(16, emu::check16)
EMU_HOOK(init)

extern "C" EMU_BARE __attribute__((used, noinline)) void __tsan_read_range(void *p,
                                                                           unsigned long bytes) {
    emu::check_range<false>(p, bytes, __builtin_return_address(0));
}
extern "C" EMU_BARE __attribute__((used, noinline)) void __tsan_write_range(void *p,
                                                                            unsigned long bytes) {
    emu::check_range<true>(p, bytes, __builtin_return_address(0));
}
