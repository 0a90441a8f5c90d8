// What the lanes of a warp do together. Every call names its line: the lanes in a mask must meet at
// the same one.
#pragma once

namespace emu {

// Same order as `Operation` in warp.rs.
enum Operation : unsigned {
    SYNC, INDEX, UP, DOWN, XOR, BALLOT, MATCH, ADD, MIN, MAX, UNSIGNED_MIN, UNSIGNED_MAX, AND, OR,
    BIT_XOR,
};

EMU_BARE inline Bits collective(const char *what, Operation operation, unsigned mask, Bits value,
                                unsigned parameter, unsigned width, const char *file, unsigned line) {
    return thread()->table->collective(thread(), what, operation, mask, value, parameter, width, file,
                                       line);
}

template <class T> EMU_INLINE Bits bits(T value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "warps exchange values of 4 or 8 bytes");
    if constexpr (sizeof(T) == 4) return __builtin_bit_cast(unsigned, value);
    else return __builtin_bit_cast(Bits, value);
}

template <class T> EMU_INLINE T value(Bits bits) {
    if constexpr (sizeof(T) == 4) return __builtin_bit_cast(T, static_cast<unsigned>(bits));
    else return __builtin_bit_cast(T, bits);
}

} // namespace emu

EMU_INLINE void __syncwarp(unsigned mask = 0xffffffff, EMU_HERE) {
    emu::collective("__syncwarp", emu::SYNC, mask, 0, 0, 32, file, line);
}
EMU_INLINE unsigned __activemask() { return 1u << (emu::thread()->lane & 31); }

#define EMU_SHUFFLE(NAME, OPERATION)                                                                 \
    template <class T>                                                                               \
    EMU_INLINE auto NAME(unsigned mask, T value, unsigned parameter, int width = 32, EMU_HERE) {     \
        using Promoted = decltype(+value);                                                           \
        return emu::value<Promoted>(emu::collective(#NAME, emu::OPERATION, mask, emu::bits(+value),  \
                                                    parameter, width, file, line));                  \
    }
EMU_SHUFFLE(__shfl_sync, INDEX)
EMU_SHUFFLE(__shfl_up_sync, UP)
EMU_SHUFFLE(__shfl_down_sync, DOWN)
EMU_SHUFFLE(__shfl_xor_sync, XOR)

EMU_INLINE unsigned __ballot_sync(unsigned mask, int predicate, EMU_HERE) {
    return emu::collective("__ballot_sync", emu::BALLOT, mask, predicate != 0, 0, 32, file, line);
}
EMU_INLINE int __any_sync(unsigned mask, int predicate, EMU_HERE) {
    return emu::collective("__any_sync", emu::BALLOT, mask, predicate != 0, 0, 32, file, line) != 0;
}
EMU_INLINE int __all_sync(unsigned mask, int predicate, EMU_HERE) {
    return emu::collective("__all_sync", emu::BALLOT, mask, predicate == 0, 0, 32, file, line) == 0;
}
template <class T> EMU_INLINE unsigned __match_any_sync(unsigned mask, T value, EMU_HERE) {
    return emu::collective("__match_any_sync", emu::MATCH, mask, emu::bits(+value), 0, 32, file, line);
}
template <class T> EMU_INLINE unsigned __match_all_sync(unsigned mask, T value, int *all, EMU_HERE) {
    unsigned same = emu::collective("__match_all_sync", emu::MATCH, mask, emu::bits(+value), 1, 32, file,
                                    line);
    *all = same != 0;
    return same;
}

#define EMU_REDUCE(TYPE, NAME, OPERATION)                                                            \
    EMU_INLINE TYPE NAME(unsigned mask, TYPE value, EMU_HERE) {                                      \
        return static_cast<TYPE>(emu::collective(#NAME, emu::OPERATION, mask, emu::bits(value), 0,   \
                                                 32, file, line));                                   \
    }
EMU_REDUCE(int, __reduce_add_sync, ADD)
EMU_REDUCE(unsigned, __reduce_add_sync, ADD)
EMU_REDUCE(int, __reduce_min_sync, MIN)
EMU_REDUCE(unsigned, __reduce_min_sync, UNSIGNED_MIN)
EMU_REDUCE(int, __reduce_max_sync, MAX)
EMU_REDUCE(unsigned, __reduce_max_sync, UNSIGNED_MAX)
EMU_REDUCE(unsigned, __reduce_and_sync, AND)
EMU_REDUCE(unsigned, __reduce_or_sync, OR)
EMU_REDUCE(unsigned, __reduce_xor_sync, BIT_XOR)
