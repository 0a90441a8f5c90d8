//! Tests of the arithmetic and logical instructions: compares them with plain Rust for boundary values and random
//! values. The functions are the same for all types, so most are tested with one.

use std::cmp::Ordering;
use std::fmt::Debug;

use ptx_machine::{Machine, Program};

use crate::{download, launch, text, upload};

fn edges() -> Vec<u64> {
    let mut values = vec![0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256];
    values.extend([0x7fff, 0x8000, 0xffff, 0x1_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff]);
    values.extend([0x1_0000_0000, i64::MAX as u64, i64::MIN as u64, u64::MAX, u64::MAX - 1]);
    let singles = "0 -0 1 -1.5 1e-40 -1e-40 3.4e38 1e-38 0.1 16777217 2.5 -2.5 inf -inf NaN";
    values.extend(singles.split(' ').map(|it| u64::from(it.parse::<f32>().unwrap().to_bits())));
    let doubles = "1 -1.5 1e-310 -1e-310 1.7e308 0.1 9e15 -2.5 3.5 4294967295.5 -1e10 inf -inf NaN";
    values.extend(doubles.split(' ').map(|it| it.parse::<f64>().unwrap().to_bits()));
    values
}

fn operands() -> Vec<[u64; 4]> {
    let edges = edges();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut all = Vec::new();
    for &x in &edges {
        for &y in &edges {
            let z = edges[random() as usize % edges.len()];
            all.push([x, y, z, random()]);
        }
    }
    all.extend((0..1000).map(|_| [random(), random(), random(), random() >> (random() % 64)]));
    all
}

/// Executes a statement and returns the registers `%d7`, `%w7` and `%p7` for each thread. The operands are in `%d0` to
/// `%d3`, their low 32 bits in `%w0` to `%w3`, their low 16 bits in `%h0` to `%h3`, and whether they are odd in `%p0`
/// to `%p3`. A result in `%h7` is extended to `%w7`.
fn run(statement: &str, operands: &[[u64; 4]]) -> Vec<Found> {
    let mut body = String::from(
        ".reg .pred %p<9>; .reg .b16 %h<8>; .reg .b32 %w<12>; .reg .b64 %d<12>;\n\
         mov.u64 %d7, 0; mov.u32 %w7, 0; setp.ne.u32 %p7, 0, 0;\n\
         ld.param.u64 %d8, [in]; ld.param.u64 %d9, [out]; ld.param.u32 %w8, [count];\n\
         mov.u32 %w9, %ctaid.x; mov.u32 %w10, %ntid.x; mov.u32 %w11, %tid.x;\n\
         mad.lo.u32 %w9, %w9, %w10, %w11; setp.ge.u32 %p8, %w9, %w8; @%p8 ret;\n\
         mad.wide.u32 %d8, %w9, 32, %d8; mad.wide.u32 %d9, %w9, 16, %d9;\n",
    );
    for k in 0..4 {
        body += &format!(
            "ld.global.u64 %d{k}, [%d8+{}]; cvt.u32.u64 %w{k}, %d{k}; cvt.u16.u64 %h{k}, %d{k};\n\
             and.b32 %w11, %w{k}, 1; setp.ne.u32 %p{k}, %w11, 0;\n",
            8 * k
        );
    }
    let extend = if statement.contains("%h7") { "cvt.u32.u16 %w7, %h7;" } else { "" };
    body += &format!(
        "{statement} {extend}\nselp.u32 %w11, 1, 0, %p7; st.global.u64 [%d9], %d7; \
         st.global.v2.u32 [%d9+8], {{%w7, %w11}}; ret;"
    );
    let text = text(&[("test(.param .u64 in, .param .u64 out, .param .u32 count)", &body)]);
    let program = Program::parse(&text).unwrap_or_else(|error| panic!("{statement}: {error}"));
    let mut machine = Machine::new(1 << 24, Some(1));
    let bytes: Vec<u8> = operands.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
    let input = upload(&mut machine, &bytes);
    let output = machine.memory.allocate(operands.len() * 16).unwrap();
    let arguments = [input, output, operands.len() as u64].map(u64::to_le_bytes).concat();
    let blocks = operands.len().div_ceil(96) as u32;
    let launch = launch(&program.kernels[0], &arguments, blocks, 96);
    machine.launch(&launch, None).unwrap_or_else(|fault| panic!("{statement}: {fault}"));
    let row = |row: [u8; 16]| {
        let row = u128::from_le_bytes(row);
        [row >> 96, row >> 64 & 0xffff_ffff, row].map(|bits| bits as u64)
    };
    download(&machine, output, operands.len()).into_iter().map(row).collect()
}

/// The values of a predicate, and of registers of 32 and 64 bits.
type Found = [u64; 3];

/// The type of an operand or of a result.
trait Value: Copy + Debug {
    /// The first letter of its registers.
    const LETTER: char;
    fn of(bits: u64) -> Self;
    /// Returns the bits, which are the same for all NaNs.
    fn bits(self) -> u64;
}

macro_rules! value {
    ($type:ty, $letter:literal, $of:expr, $bits:expr) => {
        impl Value for $type {
            const LETTER: char = $letter;
            fn of(bits: u64) -> Self {
                $of(bits)
            }
            fn bits(self) -> u64 {
                $bits(self)
            }
        }
    };
}
value!(u64, 'd', |bits| bits, |x| x);
value!(i64, 'd', |bits| bits as i64, |x| x as u64);
value!(u32, 'w', |bits| bits as u32, u64::from);
value!(i32, 'w', |bits| bits as i32, |x| x as u64);
value!(u16, 'h', |bits| bits as u16, u64::from);
value!(i16, 'h', |bits| bits as i16, |x| x as u64);
value!(bool, 'p', |bits| bits & 1 == 1, u64::from);
value!(f32, 'w', |bits| f32::from_bits(bits as u32), |x: f32| f64::bits(x.into()));
value!(f64, 'd', f64::from_bits, |x: f64| if x.is_nan() { u64::MAX } else { x.to_bits() });

/// A function of operands with the types `A`.
trait Function<A> {
    type Result: Value;
    /// Returns the operands with the registers of these types: `%w0, %d1`.
    fn registers() -> String;
    fn call(&self, operands: [u64; 4]) -> Self::Result;
}

macro_rules! function {
    ($($x:ident: $type:ident),+) => {
        impl<F: Fn($($type),+) -> R, R: Value, $($type: Value),+> Function<($($type,)+)> for F {
            type Result = R;
            fn registers() -> String {
                let letters = [$($type::LETTER),+].into_iter().enumerate();
                let names: Vec<_> = letters.map(|(k, letter)| format!("%{letter}{k}")).collect();
                names.join(", ")
            }
            fn call(&self, [$($x,)+ ..]: [u64; 4]) -> R {
                self($($type::of($x)),+)
            }
        }
    };
}
function!(x: X);
function!(x: X, y: Y);
function!(x: X, y: Y, z: Z);
function!(x: X, y: Y, z: Z, w: W);

/// Asserts that an instruction returns the result of a function, whose types determine its registers.
fn check<A, F: Function<A>>(opcode: &str, expected: F) {
    check_text(&format!("{opcode} %{}7, {};", F::Result::LETTER, F::registers()), expected);
}

fn check_text<A, F: Function<A>>(text: &str, expected: F) {
    let operands = operands();
    for (&given, [predicate, word, double]) in operands.iter().zip(run(text, &operands)) {
        let found = F::Result::of(match F::Result::LETTER {
            'p' => predicate,
            'd' => double,
            _ => word,
        });
        let expected = expected.call(given);
        let is_same = found.bits() == expected.bits();
        assert!(is_same, "{text} of {given:x?}: {found:?}, not {expected:?}");
    }
}

#[test]
fn integers_of_32_bits() {
    check("add.u32", u32::wrapping_add);
    check_text("add.s32 %w7, %w0, -5;", |x: i32| x.wrapping_sub(5));
    check("add.sat.s32", i32::saturating_add);
    check("sub.s32", i32::wrapping_sub);
    check("mul.lo.u32", u32::wrapping_mul);
    check("mul.hi.u32", |x: u32, y: u32| ((u64::from(x) * u64::from(y)) >> 32) as u32);
    check("mul.hi.s32", |x: i32, y: i32| ((i64::from(x) * i64::from(y)) >> 32) as i32);
    check("mad.lo.s32", |x: i32, y: i32, z: i32| x.wrapping_mul(y).wrapping_add(z));
    check("sad.s32", |x: i32, y: i32, z: u32| z.wrapping_add(x.abs_diff(y)));
    let odd = |opcode: &str| format!("or.b32 %w1, %w1, 1; {opcode} %w7, %w0, %w1;");
    check_text(&odd("div.u32"), |x: u32, y: u32| x / (y | 1));
    check_text(&odd("div.s32"), |x: i32, y: i32| x.wrapping_div(y | 1));
    check_text(&odd("rem.s32"), |x: i32, y: i32| x.wrapping_rem(y | 1));
    check("abs.s32", i32::wrapping_abs);
    check("neg.s32", i32::wrapping_neg);
    check("min.s32", |x: i32, y: i32| x.min(y));
    check("max.u32", |x: u32, y: u32| x.max(y));
    check("popc.b32", u32::count_ones);
    check("clz.b32", u32::leading_zeros);
    check("brev.b32", u32::reverse_bits);
    check("bfind.u32", |x: u32| x.checked_ilog2().unwrap_or(!0));
    check("bfind.shiftamt.u32", |x: u32| x.checked_ilog2().map_or(!0, |log| 31 - log));
    let magnitude = |x: i32| if x < 0 { !x } else { x } as u32;
    check("bfind.s32", |x: i32| magnitude(x).checked_ilog2().unwrap_or(!0));
}

#[test]
fn bits() {
    check("and.b32", |x: u32, y: u32| x & y);
    check("or.b32", |x: u32, y: u32| x | y);
    check("xor.b32", |x: u32, y: u32| x ^ y);
    check("not.b32", |x: u32| !x);
    check("cnot.b32", |x: u32| u32::from(x == 0));
    let text = "lop3.b32 %w7, %w0, %w1, %w2,";
    check_text(&format!("{text} 0xE8;"), |x: u32, y: u32, z: u32| x & y | x & z | y & z);
    check_text(&format!("{text} 0x40;"), |x: u32, y: u32, z: u32| x & y & !z);
    check("shl.b32", |x: u32, y: u32| if y > 31 { 0 } else { x << y });
    check("shr.u32", |x: u32, y: u32| if y > 31 { 0 } else { x >> y });
    check("shr.s32", |x: i32, y: u32| x >> y.min(31));
    check("shl.b64", |x: u64, y: u32| if y > 63 { 0 } else { x << y });
    check("shr.s64", |x: i64, y: u32| x >> y.min(63));
    let pair = |x: u32, y: u32| u64::from(x) | u64::from(y) << 32;
    let (left, right) = (|x, y, z| (pair(x, y) << z >> 32) as u32, |x, y, z| (pair(x, y) >> z) as u32);
    check("shf.l.wrap.b32", |x: u32, y: u32, z: u32| left(x, y, z & 31));
    check("shf.r.wrap.b32", |x: u32, y: u32, z: u32| right(x, y, z & 31));
    check("shf.l.clamp.b32", |x: u32, y: u32, z: u32| if z > 31 { x } else { left(x, y, z) });
    check("shf.r.clamp.b32", |x: u32, y: u32, z: u32| if z > 31 { y } else { right(x, y, z) });
    check_text("prmt.b32 %w7, %w0, %w1, 0x5410;", |x: u32, y: u32| x & 0xffff | y << 16);
    check_text("prmt.b32 %w7, %w0, %w1, 0x00f8;", |x: u32, y: u32| {
        let sign = |byte: u8| if byte & 0x80 != 0 { 0xff } else { 0 };
        let (low, high) = (x.to_le_bytes(), y.to_le_bytes());
        u32::from_le_bytes([sign(low[0]), sign(high[3]), low[0], low[0]])
    });
    // Extracts a field bit by bit, as PTX defines it.
    let field = |x: u64, position: u32, length: u32, bits: u32, signed: bool| {
        let (position, length) = (position & 255, length & 255);
        let bit = |at: u32| x >> at & 1;
        let last = (position + length).saturating_sub(1).min(bits - 1);
        let sign = if signed && length > 0 { bit(last) } else { 0 };
        (0..bits).fold(0, |field, k| {
            let inside = k < length && position + k < bits;
            field | (if inside { bit(position + k) } else { sign }) << k
        })
    };
    check("bfe.u32", |x: u32, y: u32, z: u32| field(x.into(), y, z, 32, false) as u32);
    check("bfe.s32", |x: u32, y: u32, z: u32| field(x.into(), y, z, 32, true) as u32);
    check("bfe.u64", |x: u64, y: u32, z: u32| field(x, y, z, 64, false));
    check("bfe.s64", |x: u64, y: u32, z: u32| field(x, y, z, 64, true));
    check("bfi.b32", |x: u32, y: u32, z: u32, w: u32| {
        let (position, length) = (z & 255, w & 255);
        (0..32).fold(y, |result, k| match k >= position && k - position < length {
            true => result & !(1 << k) | (x >> (k - position) & 1) << k,
            false => result,
        })
    });
}

#[test]
fn integers_of_64_and_16_bits() {
    check("mul.hi.u64", |x: u64, y: u64| ((u128::from(x) * u128::from(y)) >> 64) as u64);
    check("mul.hi.s64", |x: i64, y: i64| ((i128::from(x) * i128::from(y)) >> 64) as i64);
    check("mul.wide.u32", |x: u32, y: u32| u64::from(x) * u64::from(y));
    check("mul.wide.s32", |x: i32, y: i32| i64::from(x) * i64::from(y));
    let product = |x: i32, y: i32| i64::from(x) * i64::from(y);
    check("mad.wide.s32", |x: i32, y: i32, z: i64| product(x, y).wrapping_add(z));
    check_text("or.b64 %d1, %d1, 1; rem.u64 %d7, %d0, %d1;", |x: u64, y: u64| x % (y | 1));
    check("min.u64", |x: u64, y: u64| x.min(y));
    check("max.s64", |x: i64, y: i64| x.max(y));
    check("popc.b64", u64::count_ones);
    check("clz.b64", u64::leading_zeros);
    check("bfind.u64", |x: u64| x.checked_ilog2().unwrap_or(!0));
    check_text("mov.b64 %d7, {%w0, %w1};", |x: u32, y: u32| u64::from(x) | u64::from(y) << 32);
    check_text("mov.b64 {%w5, %w6}, %d0; mov.b64 %d7, {%w6, %w5};", |x: u64| x.rotate_left(32));
    check_text("mov.b32 %w7, {%h0, %h1};", |x: u16, y: u16| u32::from(x) | u32::from(y) << 16);
    check("add.s16", u16::wrapping_add);
    check("min.s16", |x: i16, y: i16| x.min(y));
    check("shl.b16", |x: u16, y: u32| x.checked_shl(y).unwrap_or(0));
    check("shr.s16", |x: i16, y: u32| x >> y.min(15));
    check("mul.wide.u16", |x: u16, y: u16| u32::from(x) * u32::from(y));
    check("mul.wide.s16", |x: i16, y: i16| i32::from(x) * i32::from(y));
}

#[test]
fn both_precisions() {
    check("add.f32", |x: f32, y: f32| x + y);
    check("sub.rn.f32", |x: f32, y: f32| x - y);
    check("mul.rn.f32", |x: f32, y: f32| x * y);
    check("fma.rn.f32", f32::mul_add);
    check("mad.rn.f32", f32::mul_add);
    check("div.rn.f32", |x: f32, y: f32| x / y);
    check("rcp.rn.f32", |x: f32| 1.0 / x);
    check("sqrt.rn.f32", f32::sqrt);
    check("abs.f32", f32::abs);
    check("neg.f32", |x: f32| -x);
    check("copysign.f32", |x: f32, y: f32| y.copysign(x));
    let smaller = |x: f32, y: f32| match x.partial_cmp(&y) {
        None if x.is_nan() => y,
        None => x,
        Some(Ordering::Equal) if x.is_sign_negative() => x,
        Some(Ordering::Less) => x,
        _ => y,
    };
    check("min.f32", smaller);
    check("max.f32", |x: f32, y: f32| -smaller(-x, -y));
    let ftz = |x: f32| if x.is_subnormal() { 0f32.copysign(x) } else { x };
    check("add.ftz.f32", |x: f32, y: f32| ftz(ftz(x) + ftz(y)));
    check("mul.rn.ftz.f32", |x: f32, y: f32| ftz(ftz(x) * ftz(y)));
    check("fma.rn.ftz.f32", |x: f32, y: f32, z: f32| ftz(ftz(x).mul_add(ftz(y), ftz(z))));
    check("add.f64", |x: f64, y: f64| x + y);
    check("fma.rn.f64", f64::mul_add);
    check("div.rn.f64", |x: f64, y: f64| x / y);
    check("neg.f64", |x: f64| -x);
    check_text("mov.f64 %d7, 0d3FF8000000000000;", |_: f64| 1.5);
}

#[test]
fn comparisons() {
    check("setp.lt.u32", |x: u32, y: u32| x < y);
    check("setp.lo.u32", |x: u32, y: u32| x < y);
    check("setp.ge.s32", |x: i32, y: i32| x >= y);
    check("setp.ne.b32", |x: u32, y: u32| x != y);
    check("setp.le.s16", |x: i16, y: i16| x <= y);
    check("setp.eq.b64", |x: u64, y: u64| x == y);
    check("setp.gt.s64", |x: i64, y: i64| x > y);
    // The orders of two numbers in which a relation holds; they are unordered (?) if one is NaN.
    for (relation, orders) in
        [("eq", "="), ("ne", "<>"), ("lt", "<"), ("geu", ">=?"), ("neu", "<>?"), ("num", "<=>"), ("nan", "?")]
    {
        let holds = |order: Option<Ordering>| {
            orders.contains(order.map_or('?', |order| ['<', '=', '>'][(order as i8 + 1) as usize]))
        };
        check(&format!("setp.{relation}.f32"), |x: f32, y: f32| holds(x.partial_cmp(&y)));
        check(&format!("setp.{relation}.f64"), |x: f64, y: f64| holds(x.partial_cmp(&y)));
    }
    check_text("setp.lt.ftz.f32 %p7, %w0, 0f00000000;", |x: f32| x < 0.0 && !x.is_subnormal());
    check("setp.lt.and.u32", |x: u32, y: u32, z: bool| x < y && z);
    check_text("setp.lt.or.u32 %p6|%p7, %w0, %w1, !%p2;", |x: u32, y: u32, z: bool| x >= y || !z);
}

#[test]
fn predicates_and_choices() {
    check("and.pred", |x: bool, y: bool| x && y);
    check("or.pred", |x: bool, y: bool| x || y);
    check("xor.pred", |x: bool, y: bool| x != y);
    check("not.pred", |x: bool| !x);
    check("mov.pred", |x: bool| x);
    check("selp.b32", |x: u32, y: u32, z: bool| if z { x } else { y });
    check("selp.f64", |x: u64, y: u64, z: bool| if z { x } else { y });
    check_text("@%p0 mov.u64 %d7, %d1;", |x: bool, y: u64| if x { y } else { 0 });
    check_text("@!%p0 mov.u64 %d7, %d1;", |x: bool, y: u64| if x { 0 } else { y });
}

#[test]
fn addresses_and_registers() {
    check_text("add.u64 %d8, %d8, 8; ld.global.u64 %d7, [%d8+-8];", |x: u64| x);
    check_text("add.u64 %d8, %d8, 8; ld.global.u64 %d7, [%d8-8];", |x: u64| x);
    // The guard excludes the second write, so the register keeps its value in the second round of the loop.
    let text = "mov.u32 %w4, 0;\n\
        LOOP: setp.eq.u32 %p4, %w4, 0; @%p4 mov.u64 %d5, %d1; mov.u64 %d7, %d5; add.u64 %d6, %d7, %d1;\n\
        add.u32 %w4, %w4, 1; setp.lt.u32 %p4, %w4, 2; @%p4 bra LOOP;";
    check_text(text, |_: u64, y: u64| y);
}

#[test]
fn conversions() {
    check("cvt.u64.u32", |x: u32| u64::from(x));
    check("cvt.s64.s32", |x: i32| i64::from(x));
    check("cvt.u64.u16", |x: u16| u64::from(x));
    check("cvt.s32.s8", |x: u32| i32::from(x as i8));
    check("cvt.u32.u8", |x: u32| x & 0xff);
    check("cvt.u32.u64", |x: u64| x as u32);
    check("cvt.sat.u8.s32", |x: i32| x.clamp(0, 255));
    check("cvt.sat.s16.s32", |x: i32| x.clamp(-32768, 32767));
    check("cvt.rn.f32.u64", |x: u64| x as f32);
    check("cvt.rn.f32.s32", |x: i32| x as f32);
    check("cvt.rn.f64.u32", |x: u32| f64::from(x));
    check("cvt.rn.f64.s64", |x: i64| x as f64);
    check("cvt.f64.f32", |x: f32| f64::from(x));
    check("cvt.rzi.s32.f64", |x: f64| x as i32);
    check("cvt.rni.u32.f32", |x: f32| x.round_ties_even() as u32);
    check("cvt.rmi.s64.f64", |x: f64| x.floor() as i64);
    check("cvt.rpi.f64.f64", f64::ceil);
    check("cvt.rn.f32.f64", |x: f64| x as f32);
    // Of the number that is nearest and those beside it, the one on the right side of the exact value.
    let directed = |x: f64, below: bool| match f64::from(x as f32).partial_cmp(&x) {
        Some(Ordering::Greater) if below => (x as f32).next_down(),
        Some(Ordering::Less) if !below => (x as f32).next_up(),
        _ => x as f32,
    };
    check("cvt.rz.f32.f64", |x: f64| directed(x, x > 0.0));
    check("cvt.rm.f32.f64", |x: f64| directed(x, true));
    check("cvt.rp.f32.f64", |x: f64| directed(x, false));
    // Doubles represent all integers of 32 bits exactly.
    check("cvt.rz.f32.s32", |x: i32| directed(x.into(), x > 0));
    check("cvt.rp.f32.u32", |x: u32| directed(x.into(), false));
    check("cvt.sat.f32.f32", |x: f32| if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) });
}

/// Lane l holds A[l / 4][l % 4], B[l % 4][l / 4] and C[l / 4][2 (l % 4) + {0, 1}].
#[test]
fn products_of_matrices() {
    const PRODUCT: &str = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64";
    let operand = |lane: usize, k: usize| 0.1 + (lane * 4 + k) as f64;
    let of_lane = |lane: usize| [0, 1, 2, 3].map(|k| operand(lane, k).to_bits());
    let operands: Vec<_> = (0..96).map(of_lane).collect();
    for (second, to) in ["{%d7, %d6}", "{%d6, %d7}"].into_iter().enumerate() {
        let found = run(&format!("{PRODUCT} {to}, {{%d0}}, {{%d1}}, {{%d2, %d3}};"), &operands);
        for (lane, [.., found]) in found.into_iter().enumerate() {
            let (warp, row, column) = (lane / 32 * 32, lane % 32 / 4, 2 * (lane % 4) + second);
            let expected = (0..4).fold(operand(lane, 2 + second), |sum, k| {
                operand(warp + 4 * row + k, 0).mul_add(operand(warp + 4 * column + k, 1), sum)
            });
            assert_eq!(f64::from_bits(found), expected, "lane {lane}, register {second}");
        }
    }
}
