// How a kernel is entered from outside: its parameters taken from an array of pointers, and their
// sizes and kinds told, so that a launch can be checked against them.
#pragma once

namespace emu {

// Same order as `Parameter` in module.rs.
struct Parameter {
    unsigned bytes;
    unsigned char kind;
};

// Same order as `Entry` in module.rs.
struct Entry {
    void (*run)(const void *const *arguments);
    const Parameter *parameters;
    unsigned count;
    const char *begin, *end;
    unsigned threads;
};

// The most threads per block of a kernel without bounds, or with.
constexpr unsigned bound() { return 1024; }
constexpr unsigned bound(unsigned threads, unsigned = 0, unsigned = 0) { return threads; }

template <class T> struct Kind {
    static constexpr bool floats = static_cast<T>(0.5) != T(0) && static_cast<T>(0.5) != T(1);
    static constexpr unsigned char value = floats ? 'f' : 'i';
};
template <class T> struct Kind<T *> {
    static constexpr unsigned char value = 'p';
};

template <unsigned... I> struct Numbers {};
template <unsigned N, unsigned... I> struct UpTo : UpTo<N - 1, N - 1, I...> {};
template <unsigned... I> struct UpTo<0, I...> {
    using type = Numbers<I...>;
};

extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[], _end[];

template <auto KERNEL> struct Of;
template <class... A, void (*KERNEL)(A...)> struct Of<KERNEL> {
    static constexpr Parameter parameters[sizeof...(A) + 1] = {
        {static_cast<unsigned>(sizeof(A)), Kind<A>::value}..., {0, 0}};

    template <unsigned... I>
    EMU_BARE static void run_with(const void *const *arguments, Numbers<I...>) {
        KERNEL(*static_cast<const A *>(arguments[I])...);
    }

    EMU_BARE static void run(const void *const *arguments) {
        run_with(arguments, typename UpTo<sizeof...(A)>::type());
    }
};

} // namespace emu

#define EMU_KERNEL(NAME, ...)                                                                          \
    extern "C" __attribute__((visibility("default"))) const emu::Entry emu_entry_##NAME = {          \
        emu::Of<&NAME>::run, emu::Of<&NAME>::parameters,                                             \
        sizeof(emu::Of<&NAME>::parameters) / sizeof(emu::Parameter) - 1, emu::__ehdr_start,          \
        emu::_end, emu::bound(__VA_ARGS__)};
