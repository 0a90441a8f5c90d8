//! Tests of the arithmetic and logical instructions: compares hand-written PTX with plain Rust for boundary values
//! and random values.

use ptx_machine::{Launch, Machine, Program, Start};

/// Returns boundary values of integers and of floating-point numbers of both sizes.
fn edges() -> Vec<u64> {
    let mut values: Vec<u64> =
        vec![0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256];
    values.extend([0x7fff, 0x8000, 0xffff, 0x1_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff]);
    values.extend([0x1_0000_0000, i64::MAX as u64, i64::MIN as u64, u64::MAX, u64::MAX - 1]);
    let singles =
        [0.0, -0.0, 1.0, -1.5, 1e-40, -1e-40, 3.4e38, 1e-38, 0.1, 16_777_217.0, 2.5, -2.5];
    values.extend(singles.map(|value: f32| u64::from(value.to_bits())));
    values.extend([f32::INFINITY, f32::NEG_INFINITY, f32::NAN].map(|v| u64::from(v.to_bits())));
    let doubles = [1.0, -1.5, 1e-310, -1e-310, 1.7e308, 0.1, 9e15, -2.5, 3.5, 4294967295.5, -1e10];
    values.extend(doubles.map(|value: f64| value.to_bits()));
    values.extend([f64::INFINITY, f64::NEG_INFINITY, f64::NAN].map(f64::to_bits));
    values
}

/// Returns four operands for each thread.
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
/// to `%p3`.
fn run(statement: &str, operands: &[[u64; 4]]) -> Vec<(u64, u32, bool)> {
    let mut text = String::from(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry test(.param .u64 in, .param .u64 \
         out, .param .u32 count)\n{\n.reg .pred %p<9>; .reg .b16 %h<8>; .reg .b32 %w<12>; .reg .b64 %d<12>;\n\
         mov.u64 %d7, 0; mov.u32 %w7, 0; setp.ne.u32 %p7, 0, 0;\n\
         ld.param.u64 %d8, [in]; ld.param.u64 %d9, [out]; ld.param.u32 %w8, [count];\n\
         mov.u32 %w9, %ctaid.x; mov.u32 %w10, %ntid.x; mov.u32 %w11, %tid.x;\n\
         mad.lo.u32 %w9, %w9, %w10, %w11; setp.ge.u32 %p8, %w9, %w8; @%p8 ret;\n\
         mad.wide.u32 %d8, %w9, 32, %d8; mad.wide.u32 %d9, %w9, 16, %d9;\n",
    );
    for k in 0..4 {
        text += &format!(
            "ld.global.u64 %d{k}, [%d8+{}]; cvt.u32.u64 %w{k}, %d{k}; cvt.u16.u64 %h{k}, %d{k};\n\
             and.b32 %w11, %w{k}, 1; setp.ne.u32 %p{k}, %w11, 0;\n",
            8 * k
        );
    }
    text += statement;
    text += "\nselp.u32 %w11, 1, 0, %p7; st.global.u64 [%d9], %d7; \
             st.global.v2.u32 [%d9+8], {%w7, %w11}; ret;\n}\n";
    let program = Program::parse(&text).unwrap_or_else(|error| panic!("{statement}: {error}"));
    let mut machine = Machine::new(1 << 24, Some(1));
    let input = machine.memory.allocate(operands.len() * 32).unwrap();
    let output = machine.memory.allocate(operands.len() * 16).unwrap();
    let bytes: Vec<u8> = operands.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
    machine.memory.upload(&bytes, input).unwrap();
    let mut arguments = Vec::new();
    arguments.extend(input.to_le_bytes());
    arguments.extend(output.to_le_bytes());
    arguments.extend((operands.len() as u32).to_le_bytes());
    let start = Start {
        kernel: &program.kernels[0],
        arguments: &arguments,
        variables: &[],
        grid: [operands.len().div_ceil(96) as u32, 1, 1],
        shape: [96, 1, 1],
        dynamic_shared: 0,
    };
    let launch = Launch { start, resident: 8, dependent: false };
    machine.launch(&launch).unwrap_or_else(|fault| panic!("{statement}: {fault}"));
    let mut bytes = vec![0; operands.len() * 16];
    machine.memory.download(output, &mut bytes).unwrap();
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    let row = |row: &[u8]| {
        (u64::from_le_bytes(row[..8].try_into().unwrap()), word(&row[8..12]), word(&row[12..]) != 0)
    };
    bytes.chunks_exact(16).map(row).collect()
}

/// Asserts that a statement returns the expected result of 64 bits.
fn doubles(statement: &str, expected: impl Fn([u64; 4]) -> u64) {
    let operands = operands();
    for (given, (found, _, _)) in operands.iter().zip(run(statement, &operands)) {
        assert_eq!(found, expected(*given), "{statement} of {given:x?}");
    }
}

/// Asserts that a statement with operands of 32 bits returns the expected result of 32 bits.
fn words(statement: &str, expected: impl Fn([u32; 4]) -> u32) {
    let operands = operands();
    for (given, (_, found, _)) in operands.iter().zip(run(statement, &operands)) {
        let given = given.map(|value| value as u32);
        assert_eq!(found, expected(given), "{statement} of {given:x?}");
    }
}

/// Asserts that a statement with operands of 64 bits returns the expected result of 32 bits.
fn mixed(statement: &str, expected: impl Fn([u64; 4]) -> u32) {
    let operands = operands();
    for (given, (_, found, _)) in operands.iter().zip(run(statement, &operands)) {
        assert_eq!(found, expected(*given), "{statement} of {given:x?}");
    }
}

/// Asserts that a statement returns the expected predicate.
fn predicates(statement: &str, expected: impl Fn([u64; 4]) -> bool) {
    let operands = operands();
    for (given, (_, _, found)) in operands.iter().zip(run(statement, &operands)) {
        assert_eq!(found, expected(*given), "{statement} of {given:x?}");
    }
}

/// Asserts that a statement with operands of 16 bits returns the expected result of 16 bits.
fn halves(statement: &str, expected: impl Fn([u16; 4]) -> u16) {
    let statement = format!("{statement} cvt.u32.u16 %w7, %h7;");
    let operands = operands();
    for (given, (_, found, _)) in operands.iter().zip(run(&statement, &operands)) {
        let given = given.map(|value| value as u16);
        assert_eq!(found, u32::from(expected(given)), "{statement} of {given:x?}");
    }
}

/// Asserts that a statement returns the expected single-precision number. All NaNs count as equal.
fn singles(statement: &str, expected: impl Fn([f32; 4]) -> f32) {
    let operands = operands();
    for (given, (_, found, _)) in operands.iter().zip(run(statement, &operands)) {
        let given = given.map(|value| f32::from_bits(value as u32));
        let (found, expected) = (f32::from_bits(found), expected(given));
        let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
        assert!(same, "{statement} of {given:?}: {found:e}, not {expected:e}");
    }
}

/// Asserts that a statement returns the expected double-precision number. All NaNs count as equal.
fn floats(statement: &str, expected: impl Fn([f64; 4]) -> f64) {
    let operands = operands();
    for (given, (found, _, _)) in operands.iter().zip(run(statement, &operands)) {
        let given = given.map(f64::from_bits);
        let (found, expected) = (f64::from_bits(found), expected(given));
        let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
        assert!(same, "{statement} of {given:?}: {found:e}, not {expected:e}");
    }
}

#[test]
fn integers_of_32_bits() {
    words("add.u32 %w7, %w0, %w1;", |[x, y, ..]| x.wrapping_add(y));
    words("add.s32 %w7, %w0, -5;", |[x, ..]| x.wrapping_sub(5));
    words("add.sat.s32 %w7, %w0, %w1;", |[x, y, ..]| (x as i32).saturating_add(y as i32) as u32);
    words("sub.s32 %w7, %w0, %w1;", |[x, y, ..]| x.wrapping_sub(y));
    words("mul.lo.u32 %w7, %w0, %w1;", |[x, y, ..]| x.wrapping_mul(y));
    words("mul.hi.u32 %w7, %w0, %w1;", |[x, y, ..]| ((u64::from(x) * u64::from(y)) >> 32) as u32);
    words("mul.hi.s32 %w7, %w0, %w1;", |[x, y, ..]| {
        ((i64::from(x as i32) * i64::from(y as i32)) >> 32) as u32
    });
    words("mad.lo.s32 %w7, %w0, %w1, %w2;", |[x, y, z, _]| x.wrapping_mul(y).wrapping_add(z));
    words("sad.s32 %w7, %w0, %w1, %w2;", |[x, y, z, _]| {
        z.wrapping_add((x as i32).abs_diff(y as i32))
    });
    words("or.b32 %w1, %w1, 1; div.u32 %w7, %w0, %w1;", |[x, y, ..]| x / (y | 1));
    words("or.b32 %w1, %w1, 1; div.s32 %w7, %w0, %w1;", |[x, y, ..]| {
        (x as i32).wrapping_div(y as i32 | 1) as u32
    });
    words("or.b32 %w1, %w1, 1; rem.s32 %w7, %w0, %w1;", |[x, y, ..]| {
        (x as i32).wrapping_rem(y as i32 | 1) as u32
    });
    words("abs.s32 %w7, %w0;", |[x, ..]| (x as i32).wrapping_abs() as u32);
    words("neg.s32 %w7, %w0;", |[x, ..]| x.wrapping_neg());
    words("min.s32 %w7, %w0, %w1;", |[x, y, ..]| (x as i32).min(y as i32) as u32);
    words("max.u32 %w7, %w0, %w1;", |[x, y, ..]| x.max(y));
    words("popc.b32 %w7, %w0;", |[x, ..]| x.count_ones());
    words("clz.b32 %w7, %w0;", |[x, ..]| x.leading_zeros());
    words("brev.b32 %w7, %w0;", |[x, ..]| x.reverse_bits());
    words("bfind.u32 %w7, %w0;", |[x, ..]| x.checked_ilog2().unwrap_or(!0));
    words("bfind.shiftamt.u32 %w7, %w0;", |[x, ..]| x.checked_ilog2().map_or(!0, |log| 31 - log));
    words("bfind.s32 %w7, %w0;", |[x, ..]| {
        let x = x as i32;
        (if x < 0 { !x } else { x } as u32).checked_ilog2().unwrap_or(!0)
    });
}

#[test]
fn bits() {
    words("and.b32 %w7, %w0, %w1;", |[x, y, ..]| x & y);
    words("or.b32 %w7, %w0, %w1;", |[x, y, ..]| x | y);
    words("xor.b32 %w7, %w0, %w1;", |[x, y, ..]| x ^ y);
    words("not.b32 %w7, %w0;", |[x, ..]| !x);
    words("cnot.b32 %w7, %w0;", |[x, ..]| u32::from(x == 0));
    words("lop3.b32 %w7, %w0, %w1, %w2, 0xE8;", |[x, y, z, _]| x & y | x & z | y & z);
    words("lop3.b32 %w7, %w0, %w1, %w2, 0x40;", |[x, y, z, _]| x & y & !z);
    words("shl.b32 %w7, %w0, %w1;", |[x, y, ..]| if y > 31 { 0 } else { x << y });
    words("shr.u32 %w7, %w0, %w1;", |[x, y, ..]| if y > 31 { 0 } else { x >> y });
    words("shr.s32 %w7, %w0, %w1;", |[x, y, ..]| ((x as i32) >> y.min(31)) as u32);
    doubles("shl.b64 %d7, %d0, %w1;", |[x, y, ..]| if y as u32 > 63 { 0 } else { x << (y as u32) });
    doubles("shr.s64 %d7, %d0, %w1;", |[x, y, ..]| ((x as i64) >> (y as u32).min(63)) as u64);
    let pair = |x: u32, y: u32| u64::from(x) | u64::from(y) << 32;
    words("shf.l.wrap.b32 %w7, %w0, %w1, %w2;", |[x, y, z, _]| {
        (pair(x, y) << (z & 31) >> 32) as u32
    });
    words("shf.r.wrap.b32 %w7, %w0, %w1, %w2;", |[x, y, z, _]| (pair(x, y) >> (z & 31)) as u32);
    words(
        "shf.r.clamp.b32 %w7, %w0, %w1, %w2;",
        |[x, y, z, _]| {
            if z > 31 { y } else { (pair(x, y) >> z) as u32 }
        },
    );
    words("shf.l.clamp.b32 %w7, %w0, %w1, %w2;", |[x, y, z, _]| {
        if z > 31 { x } else { (pair(x, y) << z >> 32) as u32 }
    });
    words("prmt.b32 %w7, %w0, %w1, 0x5410;", |[x, y, ..]| x & 0xffff | y << 16);
    words("prmt.b32 %w7, %w0, %w1, 0x00f8;", |[x, y, ..]| {
        let sign = |byte: u8| if byte & 0x80 != 0 { 0xff } else { 0 };
        let (low, high) = (x.to_le_bytes(), y.to_le_bytes());
        u32::from_le_bytes([sign(low[0]), sign(high[3]), low[0], low[0]])
    });
    // Extracts a field bit by bit, as PTX defines it.
    let field = |x: u64, position: u64, length: u64, bits: u64, signed: bool| {
        let (position, length) = (position & 255, length & 255);
        let bit = |at: u64| x >> at & 1;
        let last = (position + length).saturating_sub(1).min(bits - 1);
        let sign = if signed && length > 0 { bit(last) } else { 0 };
        (0..bits).fold(0, |field, k| {
            let inside = k < length && position + k < bits;
            field | (if inside { bit(position + k) } else { sign }) << k
        })
    };
    words("bfe.u32 %w7, %w0, %w1, %w2;", |[x, y, z, _]| {
        field(x.into(), y.into(), z.into(), 32, false) as u32
    });
    words("bfe.s32 %w7, %w0, %w1, %w2;", |[x, y, z, _]| {
        field(x.into(), y.into(), z.into(), 32, true) as u32
    });
    doubles("bfe.u64 %d7, %d0, %w1, %w2;", |[x, y, z, _]| {
        field(x, y & 0xffff_ffff, z & 0xffff_ffff, 64, false)
    });
    doubles("bfe.s64 %d7, %d0, %w1, %w2;", |[x, y, z, _]| {
        field(x, y & 0xffff_ffff, z & 0xffff_ffff, 64, true)
    });
    words("bfi.b32 %w7, %w0, %w1, %w2, %w3;", |[x, y, z, w]| {
        let (position, length) = (z & 255, w & 255);
        (0..32).fold(y, |result, k| match k >= position && k - position < length {
            true => result & !(1 << k) | (x >> (k - position) & 1) << k,
            false => result,
        })
    });
}

#[test]
fn integers_of_64_bits() {
    doubles("add.s64 %d7, %d0, %d1;", |[x, y, ..]| x.wrapping_add(y));
    doubles("sub.u64 %d7, %d0, %d1;", |[x, y, ..]| x.wrapping_sub(y));
    doubles("mul.lo.s64 %d7, %d0, %d1;", |[x, y, ..]| x.wrapping_mul(y));
    doubles("mul.hi.u64 %d7, %d0, %d1;", |[x, y, ..]| {
        ((u128::from(x) * u128::from(y)) >> 64) as u64
    });
    doubles("mul.hi.s64 %d7, %d0, %d1;", |[x, y, ..]| {
        ((i128::from(x as i64) * i128::from(y as i64)) >> 64) as u64
    });
    doubles("mul.wide.u32 %d7, %w0, %w1;", |[x, y, ..]| (x & 0xffff_ffff) * (y & 0xffff_ffff));
    doubles("mul.wide.s32 %d7, %w0, %w1;", |[x, y, ..]| {
        (i64::from(x as i32) * i64::from(y as i32)) as u64
    });
    doubles("mad.wide.s32 %d7, %w0, %w1, %d2;", |[x, y, z, _]| {
        (i64::from(x as i32) * i64::from(y as i32)).wrapping_add(z as i64) as u64
    });
    doubles("mad.lo.u64 %d7, %d0, %d1, %d2;", |[x, y, z, _]| x.wrapping_mul(y).wrapping_add(z));
    doubles("or.b64 %d1, %d1, 1; rem.u64 %d7, %d0, %d1;", |[x, y, ..]| x % (y | 1));
    doubles("neg.s64 %d7, %d0;", |[x, ..]| x.wrapping_neg());
    doubles("abs.s64 %d7, %d0;", |[x, ..]| (x as i64).wrapping_abs() as u64);
    doubles("min.u64 %d7, %d0, %d1;", |[x, y, ..]| x.min(y));
    doubles("max.s64 %d7, %d0, %d1;", |[x, y, ..]| (x as i64).max(y as i64) as u64);
    mixed("popc.b64 %w7, %d0;", |[x, ..]| x.count_ones());
    mixed("clz.b64 %w7, %d0;", |[x, ..]| x.leading_zeros());
    mixed("bfind.u64 %w7, %d0;", |[x, ..]| x.checked_ilog2().unwrap_or(!0));
    doubles("brev.b64 %d7, %d0;", |[x, ..]| x.reverse_bits());
    doubles("and.b64 %d7, %d0, %d1;", |[x, y, ..]| x & y);
    doubles("xor.b64 %d7, %d0, %d1;", |[x, y, ..]| x ^ y);
    doubles("not.b64 %d7, %d0;", |[x, ..]| !x);
    doubles("mov.b64 %d7, {%w0, %w1};", |[x, y, ..]| x & 0xffff_ffff | y << 32);
    doubles("mov.b64 {%w5, %w6}, %d0; mov.b64 %d7, {%w6, %w5};", |[x, ..]| x.rotate_left(32));
    words("mov.b32 %w7, {%h0, %h1};", |[x, y, ..]| x & 0xffff | y << 16);
}

#[test]
fn integers_of_16_bits() {
    halves("add.s16 %h7, %h0, %h1;", |[x, y, ..]| x.wrapping_add(y));
    halves("sub.u16 %h7, %h0, %h1;", |[x, y, ..]| x.wrapping_sub(y));
    halves("mul.lo.u16 %h7, %h0, %h1;", |[x, y, ..]| x.wrapping_mul(y));
    halves("min.s16 %h7, %h0, %h1;", |[x, y, ..]| (x as i16).min(y as i16) as u16);
    mixed("shl.b16 %h7, %h0, %w1; cvt.u32.u16 %w7, %h7;", |[x, y, ..]| {
        u32::from((x as u16).checked_shl(y as u32).unwrap_or(0))
    });
    mixed("shr.s16 %h7, %h0, %w1; cvt.u32.u16 %w7, %h7;", |[x, y, ..]| {
        u32::from(((x as i16) >> (y as u32).min(15)) as u16)
    });
    halves("xor.b16 %h7, %h0, %h1;", |[x, y, ..]| x ^ y);
    words("mul.wide.u16 %w7, %h0, %h1;", |[x, y, ..]| (x & 0xffff) * (y & 0xffff));
    words("mul.wide.s16 %w7, %h0, %h1;", |[x, y, ..]| {
        (i32::from(x as i16) * i32::from(y as i16)) as u32
    });
}

#[test]
fn single_precision() {
    singles("add.f32 %w7, %w0, %w1;", |[x, y, ..]| x + y);
    singles("sub.rn.f32 %w7, %w0, %w1;", |[x, y, ..]| x - y);
    singles("mul.rn.f32 %w7, %w0, %w1;", |[x, y, ..]| x * y);
    singles("fma.rn.f32 %w7, %w0, %w1, %w2;", |[x, y, z, _]| x.mul_add(y, z));
    singles("mad.rn.f32 %w7, %w0, %w1, %w2;", |[x, y, z, _]| x.mul_add(y, z));
    singles("div.rn.f32 %w7, %w0, %w1;", |[x, y, ..]| x / y);
    singles("rcp.rn.f32 %w7, %w0;", |[x, ..]| 1.0 / x);
    singles("sqrt.rn.f32 %w7, %w0;", |[x, ..]| x.sqrt());
    singles("abs.f32 %w7, %w0;", |[x, ..]| x.abs());
    singles("neg.f32 %w7, %w0;", |[x, ..]| -x);
    singles("copysign.f32 %w7, %w0, %w1;", |[x, y, ..]| y.copysign(x));
    let smaller = |x: f32, y: f32| match (x.is_nan(), y.is_nan()) {
        (true, _) => y,
        (_, true) => x,
        _ if x == 0.0 && y == 0.0 => {
            if x.is_sign_negative() {
                x
            } else {
                y
            }
        }
        _ => {
            if x < y {
                x
            } else {
                y
            }
        }
    };
    singles("min.f32 %w7, %w0, %w1;", |[x, y, ..]| smaller(x, y));
    singles("max.f32 %w7, %w0, %w1;", |[x, y, ..]| -smaller(-x, -y));
    let flushed = |x: f32| if x.is_subnormal() { 0f32.copysign(x) } else { x };
    singles("add.ftz.f32 %w7, %w0, %w1;", |[x, y, ..]| flushed(flushed(x) + flushed(y)));
    singles("mul.rn.ftz.f32 %w7, %w0, %w1;", |[x, y, ..]| flushed(flushed(x) * flushed(y)));
    singles("fma.rn.ftz.f32 %w7, %w0, %w1, %w2;", |[x, y, z, _]| {
        flushed(flushed(x).mul_add(flushed(y), flushed(z)))
    });
}

#[test]
fn double_precision() {
    floats("add.f64 %d7, %d0, %d1;", |[x, y, ..]| x + y);
    floats("sub.f64 %d7, %d0, %d1;", |[x, y, ..]| x - y);
    floats("mul.f64 %d7, %d0, %d1;", |[x, y, ..]| x * y);
    floats("fma.rn.f64 %d7, %d0, %d1, %d2;", |[x, y, z, _]| x.mul_add(y, z));
    floats("div.rn.f64 %d7, %d0, %d1;", |[x, y, ..]| x / y);
    floats("rcp.rn.f64 %d7, %d0;", |[x, ..]| 1.0 / x);
    floats("sqrt.rn.f64 %d7, %d0;", |[x, ..]| x.sqrt());
    floats("abs.f64 %d7, %d0;", |[x, ..]| x.abs());
    floats("neg.f64 %d7, %d0;", |[x, ..]| -x);
    floats("mov.f64 %d7, 0d3FF8000000000000;", |_| 1.5);
}

#[test]
fn comparisons() {
    predicates("setp.lt.u32 %p7, %w0, %w1;", |[x, y, ..]| (x as u32) < y as u32);
    predicates("setp.lo.u32 %p7, %w0, %w1;", |[x, y, ..]| (x as u32) < y as u32);
    predicates("setp.ge.s32 %p7, %w0, %w1;", |[x, y, ..]| x as i32 >= y as i32);
    predicates("setp.ne.b32 %p7, %w0, %w1;", |[x, y, ..]| x as u32 != y as u32);
    predicates("setp.le.s16 %p7, %h0, %h1;", |[x, y, ..]| x as i16 <= y as i16);
    predicates("setp.eq.b64 %p7, %d0, %d1;", |[x, y, ..]| x == y);
    predicates("setp.gt.s64 %p7, %d0, %d1;", |[x, y, ..]| x as i64 > y as i64);
    let single = |bits: u64| f32::from_bits(bits as u32);
    predicates("setp.lt.f32 %p7, %w0, %w1;", |[x, y, ..]| single(x) < single(y));
    predicates("setp.geu.f32 %p7, %w0, %w1;", |[x, y, ..]| {
        single(x).partial_cmp(&single(y)) != Some(std::cmp::Ordering::Less)
    });
    let double = f64::from_bits;
    predicates("setp.eq.f64 %p7, %d0, %d1;", |[x, y, ..]| double(x) == double(y));
    predicates("setp.neu.f64 %p7, %d0, %d1;", |[x, y, ..]| double(x) != double(y));
    predicates("setp.ne.f64 %p7, %d0, %d1;", |[x, y, ..]| {
        double(x) != double(y) && !double(x).is_nan() && !double(y).is_nan()
    });
    predicates("setp.num.f64 %p7, %d0, %d1;", |[x, y, ..]| {
        !double(x).is_nan() && !double(y).is_nan()
    });
    predicates("setp.nan.f64 %p7, %d0, %d1;", |[x, y, ..]| {
        double(x).is_nan() || double(y).is_nan()
    });
    predicates("setp.lt.ftz.f32 %p7, %w0, 0f00000000;", |[x, ..]| {
        single(x) < 0.0 && !single(x).is_subnormal()
    });
    let odd = |bits: u64| bits & 1 == 1;
    predicates("setp.lt.and.u32 %p7, %w0, %w1, %p2;", |[x, y, z, _]| {
        (x as u32) < y as u32 && odd(z)
    });
    predicates("setp.lt.or.u32 %p6|%p7, %w0, %w1, !%p2;", |[x, y, z, _]| {
        x as u32 >= y as u32 || !odd(z)
    });
}

#[test]
fn predicates_and_choices() {
    let odd = |bits: u64| bits & 1 == 1;
    predicates("and.pred %p7, %p0, %p1;", |[x, y, ..]| odd(x) && odd(y));
    predicates("or.pred %p7, %p0, %p1;", |[x, y, ..]| odd(x) || odd(y));
    predicates("xor.pred %p7, %p0, %p1;", |[x, y, ..]| odd(x) != odd(y));
    predicates("not.pred %p7, %p0;", |[x, ..]| !odd(x));
    predicates("mov.pred %p7, %p0;", |[x, ..]| odd(x));
    words("selp.b32 %w7, %w0, %w1, %p2;", |[x, y, z, _]| if z & 1 == 1 { x } else { y });
    doubles("selp.f64 %d7, %d0, %d1, %p2;", |[x, y, z, _]| if z & 1 == 1 { x } else { y });
    doubles("@%p0 mov.u64 %d7, %d1;", |[x, y, ..]| if odd(x) { y } else { 0 });
    doubles("@!%p0 mov.u64 %d7, %d1;", |[x, y, ..]| if odd(x) { 0 } else { y });
}

#[test]
fn conversions() {
    doubles("cvt.u64.u32 %d7, %w0;", |[x, ..]| x & 0xffff_ffff);
    doubles("cvt.s64.s32 %d7, %w0;", |[x, ..]| i64::from(x as i32) as u64);
    doubles("cvt.u64.u16 %d7, %h0;", |[x, ..]| x & 0xffff);
    words("cvt.s32.s8 %w7, %w0;", |[x, ..]| i32::from(x as i8) as u32);
    words("cvt.u32.u8 %w7, %w0;", |[x, ..]| x & 0xff);
    mixed("cvt.u32.u64 %w7, %d0;", |[x, ..]| x as u32);
    words("cvt.sat.u8.s32 %w7, %w0;", |[x, ..]| (x as i32).clamp(0, 255) as u32);
    words("cvt.sat.s16.s32 %w7, %w0;", |[x, ..]| {
        i32::from((x as i32).clamp(-32768, 32767) as i16) as u32
    });
    mixed("cvt.rn.f32.u64 %w7, %d0;", |[x, ..]| (x as f32).to_bits());
    mixed("cvt.rn.f32.s32 %w7, %w0;", |[x, ..]| (x as i32 as f32).to_bits());
    doubles("cvt.rn.f64.u32 %d7, %w0;", |[x, ..]| f64::from(x as u32).to_bits());
    doubles("cvt.rn.f64.s64 %d7, %d0;", |[x, ..]| (x as i64 as f64).to_bits());
    floats("cvt.f64.f32 %d7, %w0;", |[x, ..]| f64::from(f32::from_bits(x.to_bits() as u32)));
    mixed("cvt.rzi.s32.f64 %w7, %d0;", |[x, ..]| f64::from_bits(x) as i32 as u32);
    mixed("cvt.rni.u32.f32 %w7, %w0;", |[x, ..]| f32::from_bits(x as u32).round_ties_even() as u32);
    doubles("cvt.rmi.s64.f64 %d7, %d0;", |[x, ..]| f64::from_bits(x).floor() as i64 as u64);
    floats("cvt.rpi.f64.f64 %d7, %d0;", |[x, ..]| x.ceil());
    mixed(
        "cvt.rn.f32.f64 %w7, %d0; and.b32 %w6, %w7, 0x7fffffff; setp.gt.u32 %p6, %w6, 0x7f800000; \
           @%p6 mov.u32 %w7, 0;",
        |[x, ..]| {
            let single = f64::from_bits(x) as f32;
            if single.is_nan() { 0 } else { single.to_bits() }
        },
    );
    // Toward zero: the result is not larger than the value, but the next number is.
    let operands = operands();
    let found = run("cvt.rz.f32.f64 %w7, %d0;", &operands);
    for ([x, ..], (_, found, _)) in operands.iter().zip(found) {
        let (value, found) = (f64::from_bits(*x).abs(), f64::from(f32::from_bits(found).abs()));
        if value.is_finite() {
            assert!(
                found <= value && (f64::from((found as f32).next_up()) > value),
                "{value:e} {found:e}"
            );
        }
    }
}

/// Lane l holds A[l / 4][l % 4], B[l % 4][l / 4] and C[l / 4][2 (l % 4) + {0, 1}].
#[test]
fn products_of_matrices() {
    const PRODUCT: &str = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64";
    let operand = |lane: usize, k: usize| 0.1 + (lane * 4 + k) as f64;
    let operands: Vec<_> =
        (0..96).map(|lane| [0, 1, 2, 3].map(|k| operand(lane, k).to_bits())).collect();
    for (second, to) in ["{%d7, %d6}", "{%d6, %d7}"].into_iter().enumerate() {
        let found = run(&format!("{PRODUCT} {to}, {{%d0}}, {{%d1}}, {{%d2, %d3}};"), &operands);
        for (lane, (found, ..)) in found.into_iter().enumerate() {
            let (warp, row, column) = (lane / 32 * 32, lane % 32 / 4, 2 * (lane % 4) + second);
            let expected = (0..4).fold(operand(lane, 2 + second), |sum, k| {
                operand(warp + 4 * row + k, 0).mul_add(operand(warp + 4 * column + k, 1), sum)
            });
            assert_eq!(f64::from_bits(found), expected, "lane {lane}, register {second}");
        }
    }
}
