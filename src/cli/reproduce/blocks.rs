//! The blocks of an experiment with the methods and modelled GPUs of this program: whether it has those that a
//! definition names, and the runs that measure them.

use anyhow::{Context, Error, Result, anyhow, ensure};

use spmv_matrix::method_name::MethodName;
use spmv_methods::all;
use spmv_methods::device::model::DeviceFile;
use spmv_methods::method::{Device, Unavailable};
use spmv_results::papers;
use spmv_results::papers::definition::{Block, Experiment};
use spmv_results::settings::{DeviceChoice, Protocol, RunSettings, Settings};

/// The maximum number of measurements of an experiment: matrices times methods times combinations of lists.
const MOST_CELLS: usize = 1_000_000;

/// Returns the built-in experiment with that ID, or that of a file, with methods and models that exist.
pub fn experiment(word: &str) -> Result<Experiment> {
    let experiment = papers::experiment(word)?;
    check(&experiment).map_err(|error| anyhow!("{word}: {error}"))?;
    Ok(experiment)
}

fn check(experiment: &Experiment) -> Result<()> {
    let Experiment { blocks, gpus, .. } = experiment;
    blocks.iter().try_for_each(check_block)?;
    known_models(gpus)?;
    let cells = blocks.iter().map(|block| cells(block, gpus.len()));
    let cells = cells.fold(0, usize::saturating_add);
    ensure!(
        cells <= MOST_CELLS,
        "it has {cells} measurements (matrices times methods times combinations of lists); at most {MOST_CELLS} are \
         allowed"
    );
    Ok(())
}

fn check_block(block: &Block) -> Result<()> {
    for word in &block.methods {
        let is_known = devices(word).next().is_some();
        ensure!(is_known, "there is no method '{word}'; `spmv-bench methods` lists them");
    }
    let mut devices = block.methods.iter().flat_map(|word| devices(word));
    let first = devices.next().context("a block lists no methods")?;
    ensure!(
        devices.all(|device| device == first),
        "a block lists methods of both CPU and GPU: split it into two blocks"
    );
    ensure!(
        first == Device::Gpu || block.models.is_empty(),
        "a block lists models, but its methods run on the CPU; models are for methods of the GPU"
    );
    known_models(&block.models)
}

/// Returns the number of measurements of a block, where `gpus` are modelled if it names no models.
fn cells(block: &Block, gpus: usize) -> usize {
    let models = if block.models.is_empty() { gpus } else { block.models.len() };
    let methods = block.methods.iter().flat_map(|word| devices(word)).count();
    [block.count_matrices(), block.combinations(), models.max(1)]
        .into_iter()
        .fold(methods, usize::saturating_mul)
}

fn known_models(names: &[String]) -> Result<()> {
    let known = |name: &String| DeviceFile::find(name).map(drop);
    names.iter().try_for_each(known).map_err(|Unavailable(reason)| Error::msg(reason))
}

/// Returns the devices of the methods that a name or glob selects. The word may have parameters.
fn devices(word: &str) -> impl Iterator<Item = Device> + use<> {
    let pattern = glob::Pattern::new(MethodName::parse(word).method).ok();
    let methods = all().filter(move |method| pattern.as_ref().is_some_and(|pattern| pattern.matches(method.name)));
    methods.map(|method| method.device())
}

/// Whether a block of the experiment runs on the device. For a GPU, only blocks on a real GPU count.
pub fn needs(experiment: &Experiment, on: Device) -> bool {
    experiment.blocks.iter().any(|block| device(block) == on && block.models.is_empty())
}

/// Returns the device of a block that was checked.
pub fn device(block: &Block) -> Device {
    devices(&block.methods[0]).next().expect("the block was checked")
}

/// Returns the settings of a run for each combination of the lists. Numbers of threads above `cores` are left out. A
/// GPU block runs on its own models if it has some, otherwise on each of `models`, or on a real GPU if that is empty
/// too.
pub fn runs(block: &Block, cores: usize, models: &[String]) -> Vec<RunSettings> {
    let models = if block.models.is_empty() { models } else { &block.models };
    let devices = match models {
        [] if device(block) == Device::Cpu => vec![DeviceChoice::Cpu],
        [] => vec![DeviceChoice::Gpu(None)],
        models => models.iter().map(|name| DeviceChoice::Models(vec![name.clone()])).collect(),
    };
    let methods = Some(block.methods.clone());
    let whole = RunSettings::new(settings(block));
    let runs = vec![RunSettings { methods, expand: block.expand, ..whole }];
    let runs = multiplied(runs, &devices, |run, device| run.device = device.clone());
    let mut runs = multiplied(runs, &block.precision, |run, &one| run.precisions = vec![one]);
    if !block.threads.is_empty() {
        let threads: Vec<_> = block.threads.iter().filter(|&&n| n <= cores).collect();
        runs = multiplied(runs, &threads, |run, &&n| run.threads = vec![n]);
    }
    let runs = multiplied(runs, &block.order, |run, &one| run.orders = vec![one]);
    let runs = multiplied(runs, &block.cache, |run, &one| {
        run.caches = vec![one];
        run.settings.cache = one;
    });
    multiplied(runs, &block.transpose, |run, &is| run.settings.transpose = is)
}

fn settings(block: &Block) -> Settings {
    let protocol = Settings::new(block.protocol.unwrap_or(Protocol::MergeSpmv));
    let [rounds, iterations] = [block.rounds, block.iterations].map(|number| number.map(|number| number as usize));
    Settings {
        rounds: rounds.unwrap_or(protocol.rounds),
        iterations: iterations.or(protocol.iterations),
        values: block.values,
        isa: block.isa.unwrap_or(protocol.isa),
        stages: block.stages,
        ..protocol
    }
}

fn multiplied<T>(runs: Vec<RunSettings>, values: &[T], set: impl Fn(&mut RunSettings, &T)) -> Vec<RunSettings> {
    let mut all = Vec::new();
    for (run, value) in runs.iter().flat_map(|run| values.iter().map(move |value| (run, value))) {
        all.push(run.clone());
        set(all.last_mut().expect("it was added"), value);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use spmv_matrix::order::Order;
    use spmv_matrix::scalar::Precision;

    fn parse(text: &str) -> Result<Experiment, String> {
        let text = format!("title = 'a'\nsource = 'b'\n{text}");
        let parsed = Experiment::parse("x", "x.toml", &text).and_then(|experiment| {
            check(&experiment)?;
            Ok(experiment)
        });
        parsed.map_err(|error| error.to_string())
    }

    fn block(methods: &str, rest: &str) -> String {
        format!("[[measure]]\nmatrices = ['corpus']\nmethods = [{methods}]\n{rest}")
    }

    #[test]
    fn models_run_methods_of_the_gpu() {
        let block = |methods, models| parse(&block(methods, &format!("models = [{models}]\n")));
        let experiment = block("'gpu-coo'", "'v100', 'a100'").unwrap();
        let runs = runs(&experiment.blocks[0], 2, &[]);
        let devices: Vec<_> = runs.iter().map(|run| run.device.to_string()).collect();
        assert_eq!(devices, ["model:v100", "model:a100"]);
        assert!(!needs(&experiment, Device::Gpu), "no real GPU is needed");
        let refused = block("'merge'", "'v100'").unwrap_err();
        assert!(refused.contains("models are for methods of the GPU"), "{refused}");
        assert!(block("'gpu-coo'", "'v10'").unwrap_err().contains("no model 'v10'"));
        assert!(block("'fastest'", "").unwrap_err().starts_with("there is no method 'fastest'"));
        let both = "a block lists methods of both CPU and GPU: split it into two blocks";
        assert_eq!(block("'merge', 'gpu-merge'", "").unwrap_err(), both);
    }

    #[test]
    fn lists_multiply_and_the_machine_bounds_threads() {
        let lists = "precision = ['f64', 'f32']\nthreads = [1, 2, 4]\norder = ['natural', 'rcm']\n";
        let rest = "protocol = 'csr-k'\nexpand = false\n";
        let methods = "'merge', 'mkl-*'";
        let experiment = parse(&block(methods, &format!("{lists}{rest}"))).unwrap();
        let all = runs(&experiment.blocks[0], 2, &[]);
        assert_eq!(all.len(), 2 * 2 * 2, "4 threads are more than the cores");
        let common = RunSettings {
            methods: Some(vec!["merge".into(), "mkl-*".into()]),
            device: DeviceChoice::Cpu,
            expand: false,
            ..RunSettings::new(Settings::new(Protocol::CsrK))
        };
        assert_eq!(all[0], RunSettings { threads: vec![1], ..common.clone() });
        let last = RunSettings { threads: vec![2], orders: vec![Order::Rcm], ..common.clone() };
        assert_eq!(all[7], RunSettings { precisions: vec![Precision::F32], ..last });
        let plain = RunSettings { settings: Settings::new(Protocol::MergeSpmv), expand: true, ..common };
        assert_eq!(runs(&parse(&block(methods, "")).unwrap().blocks[0], 2, &[]), [plain]);
    }

    /// Matrices and combinations multiply, and blocks are added.
    #[test]
    fn too_many_measurements_are_refused() {
        let of = |lists: &str| {
            let ten = "{0,1,2,3,4,5,6,7,8,9}".repeat(4);
            format!("[[measure]]\nmatrices = ['{ten}']\nmethods = ['seq']\n{lists}")
        };
        let list = |name: &str, word: &str| format!("{name} = [{}]\n", [word; 22].join(", "));
        let error = parse(&of(&(list("order", "'rcm'") + &list("cache", "'hot'")))).unwrap_err();
        assert!(error.starts_with("it has 4840000 measurements"), "{error}");
        assert!(parse(&of("").repeat(100)).is_ok());
        let error = parse(&of("").repeat(101)).unwrap_err();
        assert!(error.starts_with("it has 1010000 measurements"), "{error}");
    }
}
