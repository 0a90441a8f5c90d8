use super::*;
use crate::row::Row;

/// Returns rows of the methods `ours` and `theirs`. Speed-ups of `ours` over `theirs` are 4/2 = 2, 3/4 and 1/1 on
/// a, b and c, which have 100, 200 and 300 nonzeros.
fn lines() -> Vec<RecordedRow> {
    let row = |file: &str, nonzeros, method: &str, ms| Row {
        num_nonzeros: Some(nonzeros),
        gflops: Some(2e-6 * nonzeros as f64 / ms),
        distinct_results: Some(1.into()),
        ..crate::report::row(file, method, ms)
    };
    let skipped = Row {
        status: Some(Status::Skipped),
        reason: "not on this machine".into(),
        avg_spmv_ms: None,
        ..row("a.mtx", 100, "absent", 1.0)
    };
    let rows = [
        row("a.mtx", 100, "ours", 2.0),
        row("a.mtx", 100, "theirs", 4.0),
        row("b.mtx", 200, "ours", 4.0),
        row("b.mtx", 200, "theirs", 3.0),
        row("c.mtx", 300, "ours", 1.0),
        row("c.mtx", 300, "theirs", 1.0),
        skipped,
    ];
    rows.map(RecordedRow::from).to_vec()
}

fn claim(measured: &str, rest: &str) -> Claim {
    let text = format!("text = 't'\npaper = 'p'\nmeasured.{measured}\n{rest}\n");
    toml::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn assert_near(measured: &str, expected: f64) {
    let judged = judge(&claim(measured, "holds = '> 0'"), &[], &lines(), false);
    let number = judged.measured.unwrap();
    assert!((number - expected).abs() < 1e-12 * expected.abs().max(1.0), "{measured}: {number}");
}

#[test]
fn quantities_equal_those_computed_by_hand() {
    let speed = |statistic: &str| format!("speed = {{ of = 'ours', over = 'theirs', statistic = '{statistic}' }}");
    assert_near(&speed("max"), 2.0);
    assert_near(&speed("min"), 0.75);
    // 3 / (1/2 + 4/3 + 1) = 3 / (17/6)
    assert_near(&speed("harmonic-mean"), 18.0 / 17.0);
    // Faster on a only; on c they are equal.
    assert_near("faster = { of = 'ours', than = 'theirs' }", 100.0 / 3.0);
    // Ties count for both.
    assert_near("best = { of = 'ours', among = ['theirs'] }", 200.0 / 3.0);
    assert_near("best = { of = 'theirs', among = ['ours'] }", 200.0 / 3.0);
    let column = "column = 'avg_spmv_ms', statistic = 'mean'";
    assert_near(&format!("number = {{ of = 'ours', {column} }}"), 7.0 / 3.0);
    assert_near(&format!("ratio = {{ of = 'ours', over = 'theirs', {column} }}"), 7.0 / 8.0);
    // x - mean: -100, 0, 100; ours - 7/3: -1/3, 5/3, -4/3: sum -100, sqrt(20000 * 14/3).
    let ours = -100.0 / (20_000.0f64 * 14.0 / 3.0).sqrt();
    // theirs - 8/3: 4/3, 1/3, -5/3: sum -300.
    let theirs = -300.0 / (20_000.0f64 * 14.0 / 3.0).sqrt();
    let between = "between = ['avg_spmv_ms', 'num_nonzeros']";
    assert_near(&format!("correlation = {{ of = 'ours', {between} }}"), ours);
    let farther = format!("farther = {{ of = 'ours', than = 'theirs', {between}, to = 0.0 }}");
    assert_near(&farther, ours.abs() - theirs.abs());
    assert_near("share = { of = 'ours', meets = 'num_nonzeros >= 200' }", 200.0 / 3.0);
}

#[test]
fn a_claim_holds_does_not_or_cannot_be_judged() {
    let mean = "speed = { of = 'ours', over = 'theirs', statistic = 'mean' }";
    let all = lines();
    let mut replaced = lines();
    for line in replaced.iter_mut().filter(|line| line.matrix() == "b") {
        line.row.kind = Some("surrogate for G/b: gen:dense,cols=2".into());
    }
    use ClaimVerdict::{CannotBeJudged as Open, DoesNotHold, Holds};
    // The mean is 1.25.
    for (rest, lines, quick, matrices, verdict, why) in [
        ("holds = '> 1'", &all, false, 3, Holds, ""),
        ("holds = '< 1'", &all, false, 3, DoesNotHold, ""),
        ("where = 'num_nonzeros > 100'\nholds = '< 1'", &all, false, 2, Holds, ""),
        ("unjudged = 'not here'", &all, false, 3, Open, "not here"),
        ("holds = '> 1'\nleast = 3", &all, false, 3, Holds, ""),
        ("holds = '> 1'\nleast = 4", &all, false, 3, Open, "3 matrices only; it would hold"),
        ("holds = '< 1'", &all, true, 3, Open, "a quick run; it would not hold"),
        ("holds = '> 1'", &replaced, false, 3, Open, "1 of them surrogates; it would hold"),
        ("holds = '> 1'\nany_matrix = true", &replaced, false, 3, Holds, ""),
    ] {
        let judged = judge(&claim(mean, rest), &[], lines, quick);
        let found = (judged.matrices, judged.verdict, judged.why.unwrap_or_default());
        assert_eq!(found, (matrices, verdict, why.into()), "{rest}");
    }
}

/// Of the speed on b, 0.75, and of the mean of 1.25 on three matrices: times vary by 10 %, or by the interval of the
/// row.
#[test]
fn a_number_whose_interval_contains_the_limit_is_not_distinguishable() {
    use ClaimVerdict::{DoesNotHold, Holds, NotDistinguishable};
    let on_b = "speed = { of = 'ours', over = 'theirs', statistic = 'min' }";
    let mean = "speed = { of = 'ours', over = 'theirs', statistic = 'mean' }";
    let count = "number = { of = 'ours', column = 'num_nonzeros', statistic = 'mean' }";
    for (measured, holds, half_width, verdict) in [
        (on_b, "< 0.76", 0.0, NotDistinguishable),
        (on_b, "< 1", 0.0, Holds),
        (on_b, "> 1", 0.0, DoesNotHold),
        (on_b, "> 1", 0.4, NotDistinguishable),
        (mean, "> 1.24", 0.0, NotDistinguishable),
        (mean, "> 1.05", 0.0, Holds),
        (mean, "1.05 to 1.5", 0.0, Holds),
        (count, "> 199", 0.4, Holds),
    ] {
        let mut lines = lines();
        for row in lines.iter_mut().map(|line| &mut line.row) {
            let ms = row.avg_spmv_ms;
            (row.ci95_low_ms, row.ci95_high_ms) =
                (ms.map(|ms| (1.0 - half_width) * ms), ms.map(|ms| (1.0 + half_width) * ms));
        }
        let judged = judge(&claim(measured, &format!("holds = '{holds}'")), &[], &lines, false);
        assert_eq!(judged.verdict, verdict, "{measured} {holds} {judged:?}");
        assert_eq!(judged.low.is_some(), measured != count);
        let number = judged.measured.unwrap();
        let has_number = |(low, high)| low < number && number < high;
        assert!(judged.low.zip(judged.high).is_none_or(has_number), "{judged:?}");
    }
}

#[test]
fn missing_numbers_have_a_reason() {
    let why = |of: &str, rest: &str| {
        let speed = format!("speed = {{ of = '{of}', over = 'theirs', statistic = 'mean' }}");
        let judgement = judge(&claim(&speed, &format!("holds = '> 1'\n{rest}")), &[], &lines(), false);
        assert_eq!((judgement.measured, judgement.verdict), (None, ClaimVerdict::CannotBeJudged));
        judgement.why.unwrap()
    };
    assert_eq!(why("absent", ""), "absent: not on this machine");
    assert_eq!(why("unheard", ""), "no row of unheard");
    assert_eq!(why("gpu-merge:block=*", ""), "gpu-merge:block=* runs on a GPU");
    let large = why("ours where order != rcm", "where = 'num_nonzeros > 1e6'");
    assert_eq!(large, "no row of ours where order != rcm && num_nonzeros > 1e6");
}

/// Returns the rows on a model, where `ours` and `theirs` are methods that have been compared with published times.
fn modelled(name: &str) -> Vec<RecordedRow> {
    let device = Device::model(name);
    let mut lines = lines();
    for row in lines.iter_mut().map(|line| &mut line.row) {
        row.device = Some(device);
        row.method_name = row.method_name.as_deref().map(with_kernels);
    }
    lines
}

fn with_kernels(text: &str) -> String {
    text.replace("ours", "gpu-coo").replace("theirs", "gpu-ell")
}

/// Modelled times of both methods have a median error of at most 14 % on the V100 and 12 % on the H200; the largest
/// error of any method on the V100, and of any on all GPUs, is 69 %.
#[test]
fn ratios_of_modelled_times_are_judged_outside_the_models_error() {
    use ClaimVerdict::*;
    let mean = "speed = { of = 'ours', over = 'theirs', statistic = 'mean' }";
    let of_all = "speed = { of = 'ours', over = 'absent*', statistic = 'mean' }";
    // 4 over 4 ms.
    let slower = "ratio = { of = 'ours', over = 'theirs', column = 'avg_spmv_ms', statistic = 'max' }";
    // On c both have the same time.
    let faster = "faster = { of = 'ours', than = 'theirs' }";
    let best = "best = { of = 'ours', among = ['theirs'] }";
    for (measured, holds, name, verdict, percent) in [
        (mean, "> 1", "v100", Holds, 14),
        (mean, "< 1", "v100", DoesNotHold, 14),
        (mean, "> 1.1", "v100", CannotBeJudged, 14),
        (mean, "> 1.1", "h200", Holds, 12),
        (mean, "> 1", "titan-x-maxwell", CannotBeJudged, 69),
        (of_all, "> 0.8", "v100", CannotBeJudged, 69),
        (slower, "< 1.1", "v100", CannotBeJudged, 14),
        (slower, "< 1.3", "v100", Holds, 14),
        (faster, "< 50", "v100", CannotBeJudged, 14),
        (faster, "< 90", "v100", Holds, 14),
        (best, "> 50", "v100", CannotBeJudged, 14),
        (best, "> 20", "v100", Holds, 14),
    ] {
        let mut lines = modelled(name);
        for line in lines.iter_mut().filter(|line| line.method() == "absent") {
            (line.row.status, line.row.avg_spmv_ms) = (Some(Status::Ok), Some(2.0));
        }
        let claim = claim(&with_kernels(measured), &format!("holds = '{holds}'"));
        let judged = judge(&claim, &[], &lines, false);
        assert_eq!(judged.verdict, verdict, "{measured} {holds}");
        let error = format!("for an error of modelled times of {percent} %; it would hold");
        let why = (verdict == CannotBeJudged).then(|| format!("too close to the limit {error}"));
        assert_eq!(judged.why, why, "{measured} {holds}");
        let remark = judged.modelled.unwrap();
        let is_known = !["titan-x-maxwell"].contains(&name) && measured != of_all;
        assert!(remark.contains(&format!("{percent} %")), "{remark}");
        assert_eq!(remark.contains("assumed"), !is_known, "{remark}");
    }
}

#[test]
fn what_a_model_does_not_have_is_not_judged() {
    let why = |measured: &str| {
        let claim = claim(&with_kernels(measured), "holds = '> 0'");
        judge(&claim, &[], &modelled("k40m"), false).why.unwrap_or_default()
    };
    let alone = why("number = { of = 'ours', column = 'gflops', statistic = 'mean' }");
    assert_eq!(alone, "a model cannot judge times alone: it can judge only their ratios");
    let repeatability = why("share = { of = 'ours', meets = 'distinct_results = 1' }");
    assert!(repeatability.contains("repeatability"), "{repeatability}");
    assert_eq!(why("number = { of = 'ours', column = 'num_nonzeros', statistic = 'mean' }"), "");
}

/// With rows of two models, a claim uses those of its own GPU, or of the first GPU of the source.
#[test]
fn a_claim_is_judged_on_its_own_gpu() {
    let gpus = ["k40m", "v100"].map(String::from);
    let mut on_v100 = modelled("v100");
    for line in on_v100.iter_mut().filter(|line| line.method() == "gpu-coo") {
        line.row.avg_spmv_ms = line.row.avg_spmv_ms.map(|ms| ms / 10.0);
    }
    let lines = [modelled("k40m"), on_v100].concat();
    let max = "speed = { of = 'ours', over = 'theirs', statistic = 'max' }";
    let number = |rest: &str| judge(&claim(&with_kernels(max), rest), &gpus, &lines, false).measured.unwrap();
    assert_eq!(number("holds = '> 1'"), 2.0);
    assert_eq!(number("holds = '> 1'\ngpu = 'v100'"), 20.0);
    // Rows of another GPU than those of the source are judged too.
    let gpus = ["p100".to_owned()];
    let judged = judge(&claim(&with_kernels(max), "holds = '> 1'"), &gpus, &modelled("k40m"), false);
    assert_eq!(judged.measured, Some(2.0));
}
