// What the compiler's checks for undefined behaviour call: a misaligned access, an index outside an
// array of known length, an integer division by zero.
#pragma once

namespace emu {

struct Location {
    const char *file;
    unsigned line, column;
};

struct Type {
    unsigned short kind, info;
    char name[1];
};

struct Misuse {
    Location at;
    const Type *type;
};

EMU_BARE inline void report(const char *what, const Misuse *misuse) {
    thread()->table->misuse(thread(), what, misuse->type->name, misuse->at.file, misuse->at.line);
}

} // namespace emu

#define EMU_MISUSE(NAME, WHAT, ...)                                                                  \
    extern "C" EMU_BARE __attribute__((used, noinline)) void __ubsan_handle_##NAME(                  \
        const emu::Misuse *misuse, __VA_ARGS__) {                                                    \
        emu::report(WHAT, misuse);                                                                   \
    }
EMU_MISUSE(type_mismatch_v1, "misaligned access to type ", unsigned long)
EMU_MISUSE(out_of_bounds, "index out of the bounds of type ", unsigned long)
EMU_MISUSE(divrem_overflow, "division by zero in type ", unsigned long, unsigned long)
