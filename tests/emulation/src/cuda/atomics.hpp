// Atomic operations: all threads of a launch run on one thread of the host, so between two points
// where they switch everything is atomic. A value that does not change is not stored: a thread that
// polls with an atomic must be seen to do nothing. Nothing here is hooked, since hooks interrupt.
#pragma once

namespace emu {

template <class T> struct Exactly {
    using type = T;
};

template <class T, class... Types> constexpr bool one_of = (__is_same(T, Types) || ...);

template <unsigned BYTES> struct Unsigned;
template <> struct Unsigned<2> {
    using type = unsigned short;
};
template <> struct Unsigned<4> {
    using type = unsigned;
};
template <> struct Unsigned<8> {
    using type = Bits;
};

template <class T, class F> EMU_BARE __attribute__((noinline)) static T atomic(T *p, F next) {
    using Same = typename Unsigned<sizeof(T)>::type;
    void *code = __builtin_return_address(0);
    switch_point(code);
    verify<Same, false>(p, code);
    T old = *p;
    T now = next(old);
    if (__builtin_bit_cast(Same, old) != __builtin_bit_cast(Same, now)) {
        *p = now;
        thread()->wrote = 1;
    }
    return old;
}

} // namespace emu

#define EMU_ATOMIC(NAME, EXPRESSION, ...)                                                            \
    template <class T> EMU_INLINE T NAME(T *p, typename emu::Exactly<T>::type value) {               \
        static_assert(emu::one_of<T, __VA_ARGS__>, #NAME " does not take this type");                \
        return emu::atomic(p, [=](T old) EMU_BARE -> T { return EXPRESSION; });                               \
    }
EMU_ATOMIC(atomicAdd, old + value, int, unsigned, unsigned long long, float, double)
EMU_ATOMIC(atomicSub, old - value, int, unsigned)
EMU_ATOMIC(atomicExch, value, int, unsigned, unsigned long long, float)
EMU_ATOMIC(atomicMin, old < value ? old : value, int, unsigned, long long, unsigned long long)
EMU_ATOMIC(atomicMax, old > value ? old : value, int, unsigned, long long, unsigned long long)
EMU_ATOMIC(atomicAnd, old & value, int, unsigned, unsigned long long)
EMU_ATOMIC(atomicOr, old | value, int, unsigned, unsigned long long)
EMU_ATOMIC(atomicXor, old ^ value, int, unsigned, unsigned long long)
EMU_ATOMIC(atomicInc, old >= value ? 0 : old + 1, unsigned)
EMU_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1, unsigned)

template <class T>
EMU_INLINE T atomicCAS(T *p, typename emu::Exactly<T>::type expected,
                       typename emu::Exactly<T>::type value) {
    static_assert(emu::one_of<T, int, unsigned, unsigned long long, unsigned short>,
                  "atomicCAS does not take this type");
    return emu::atomic(p, [=](T old) EMU_BARE -> T { return old == expected ? value : old; });
}
