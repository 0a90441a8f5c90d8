//! Charts as PDF. A renderer is large (svg2pdf: 55 packages that take 32 s of CPU time to build without optimisation)
//! and finds no fonts on a bare machine, and whoever writes a paper has one: charts are converted by the first of these
//! programs.

use std::io::{ErrorKind, Write};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use spmv_results::files::output::failed;

/// The programs, with the arguments before the SVG file that let them write the PDF to their standard output.
const CONVERTERS: [(&str, &[&str]); 3] = [
    ("rsvg-convert", &["--format=pdf"]),
    ("inkscape", &["--export-type=pdf", "--export-filename=-"]),
    ("cairosvg", &["--format=pdf"]),
];

/// Returns an SVG chart as PDF.
pub fn of_svg(svg: &str) -> Result<Vec<u8>> {
    let mut file = tempfile::Builder::new().suffix(".svg").tempfile()?;
    file.write_all(svg.as_bytes()).map_err(failed(file.path()))?;
    for (program, arguments) in CONVERTERS {
        let ended = match Command::new(program).args(arguments).arg(file.path()).output() {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            ended => ended.with_context(|| format!("cannot run {program}"))?,
        };
        let is_pdf = ended.status.success() && ended.stdout.starts_with(b"%PDF");
        let message = String::from_utf8_lossy(&ended.stderr);
        ensure!(is_pdf, "{program} did not convert the chart to PDF: {}", message.trim());
        return Ok(ended.stdout);
    }
    bail!(
        "a chart becomes a PDF file by rsvg-convert, inkscape or cairosvg, and none is installed: install rsvg-convert \
         (package librsvg2-bin of Debian and Ubuntu, librsvg2-tools of Fedora, librsvg of Homebrew), or write a file \
         that ends in .svg"
    )
}
