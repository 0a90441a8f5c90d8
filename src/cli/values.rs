use std::ffi::OsStr;
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};

use spmv_matrix::order::Order;
use spmv_methods::METHODS;
use spmv_methods::device::model::DeviceFile;
use spmv_methods::method::Unavailable;
use spmv_results::settings::DeviceChoice;

/// The largest time that the command line accepts, in seconds: about 30 years.
const MOST_SECONDS: f64 = 1e9;

/// Accepts any text, because of patterns and parameters, but offers the names of methods for shell completion.
#[derive(Clone)]
pub struct MethodName;

impl TypedValueParser for MethodName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(METHODS.iter().map(|method| PossibleValue::new(method.name))))
    }
}

/// Accepts the orders that this program computes, and the forms of those that it reads.
#[derive(Clone)]
pub struct OrderName;

impl TypedValueParser for OrderName {
    type Value = Order;

    fn parse_ref(&self, command: &clap::Command, arg: Option<&clap::Arg>, value: &OsStr) -> Result<Order, clap::Error> {
        value.to_str().and_then(Order::named).ok_or_else(|| {
            let offered = PossibleValuesParser::new(self.possible_values().into_iter().flatten());
            offered.parse_ref(command, arg, value).expect_err("what is offered has been accepted")
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let files = [
            ("file:PATH", "An order that another program computed"),
            ("inverse-file:PATH", "The same, as the inverse permutation"),
        ];
        let files = files.map(|(name, help)| PossibleValue::new(name).help(help));
        let own = Order::value_variants().iter().filter_map(Order::to_possible_value);
        Some(Box::new(own.chain(files)))
    }
}

/// The units of times, in seconds. A number without a unit is in seconds.
const UNITS: [(&str, f64); 5] = [("ms", 1e-3), ("min", 60.0), ("s", 1.0), ("h", 3600.0), ("", 1.0)];

/// Parses a time from 0 to [`MOST_SECONDS`]: 2, 0.5, 300ms, 2s, 15min, 1h.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let unit = UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)));
    let (text, factor) = unit.unwrap_or((text, &1.0));
    let seconds = number(text)? * factor;
    let time = Duration::try_from_secs_f64(seconds).ok().filter(|_| seconds <= MOST_SECONDS);
    time.ok_or_else(|| format!("it must be a time from 0 to {MOST_SECONDS:e} seconds, such as 0.5, 300ms or 2min"))
}

pub fn whole<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "it must be a whole number such as 4".into())
}

pub fn whole_from(least: u32, most: u32) -> impl Fn(&str) -> Result<u32, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| format!("it must be a whole number from {least} to {most}"))
    }
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "it is not a number".into())
}

pub fn finite(text: &str) -> Result<f64, String> {
    let value = number(text)?;
    if value.is_finite() { Ok(value) } else { Err("it must be a finite number".into()) }
}

pub fn device(text: &str) -> Result<DeviceChoice, String> {
    if let Some(names) = text.strip_prefix("model:") {
        let names: Vec<_> = names.split(',').map(str::to_owned).collect();
        for name in &names {
            DeviceFile::find(name).map_err(|Unavailable(reason)| reason)?;
        }
        return Ok(DeviceChoice::Models(distinct(&names)));
    }
    let forms = "it must be cpu, gpu, all, the number of a GPU, or model:NAME";
    Ok(match text {
        "cpu" => DeviceChoice::Cpu,
        "gpu" => DeviceChoice::Gpu(None),
        "all" => DeviceChoice::All,
        number => DeviceChoice::Gpu(Some(number.parse().map_err(|_| forms)?)),
    })
}

/// Returns the distinct elements in the order of their first occurrence.
pub fn distinct<T: Clone + PartialEq>(all: &[T]) -> Vec<T> {
    let firsts = all.iter().enumerate().filter(|(place, one)| !all[..*place].contains(one));
    firsts.map(|(_, one)| one.clone()).collect()
}
