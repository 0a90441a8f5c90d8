//! `spmv-bench new-method`: writes the folder of a plug-in with a correct, simple method.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};

use super::verb::{CommandStatus, Verb};
use crate::campaign::env::Env;
use spmv_matrix::cache::{self, folder_of};
use spmv_methods::plugin;
use spmv_results::files::output::failed;

/// The header of the interface, which each folder contains.
const HEADER: &str = include_str!("../../plugins/spmv_method.h");
const README: &str = include_str!("../../plugins/templates/README.md");
const THREADS: &str = include_str!("../../plugins/threads.h");

/// Writes a folder with a simple method of your own to start from
///
/// It has a correct method, the interface, a build file, and a README that says how to build, check and measure it:
/// `make`, `spmv-bench check-method NAME/libNAME.so`, `spmv-bench a.mtx --plugin NAME/libNAME.so`.
#[derive(Debug, Args)]
pub struct NewMethodArgs {
    /// The language of the method
    pub language: Language,
    /// Its name, and that of the new folder: a to z, 0 to 9, - and _
    pub name: String,
    /// For C: use threads of OpenMP instead of those of the program
    ///
    /// Each is bound to its CPU.
    #[arg(long)]
    pub openmp: bool,
    /// The folder to write [default: NAME]
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// C99
    C,
    /// C++17
    Cpp,
    /// Rust, without other crates
    Rust,
    /// Fortran 2008
    Fortran,
    /// CUDA: a single .cu file for --kernel
    Cuda,
}

impl Language {
    /// Returns the files of a folder: name and text, in which @NAME@ is the name of the method.
    fn files(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::C => &[
                ("@NAME@.c", include_str!("../../plugins/templates/c/method.c")),
                ("Makefile", include_str!("../../plugins/templates/c/Makefile")),
            ],
            Self::Cpp => &[
                ("@NAME@.cpp", include_str!("../../plugins/templates/cpp/method.cpp")),
                ("Makefile", include_str!("../../plugins/templates/cpp/Makefile")),
            ],
            Self::Rust => &[
                ("src/lib.rs", include_str!("../../plugins/templates/rust/lib.rs")),
                ("src/spmv_method.rs", include_str!("../../plugins/templates/rust/spmv_method.rs")),
                ("Cargo.toml", include_str!("../../plugins/templates/rust/manifest.toml")),
            ],
            Self::Fortran => &[
                ("@NAME@.f90", include_str!("../../plugins/templates/fortran/method.f90")),
                ("Makefile", include_str!("../../plugins/templates/fortran/Makefile")),
            ],
            Self::Cuda => &[
                ("@NAME@.cu", include_str!("../../plugins/templates/cuda/method.cu")),
                ("README.md", include_str!("../../plugins/templates/cuda/README.md")),
            ],
        }
    }

    /// Returns the command that builds the plug-in, and the file that it makes.
    fn build(self) -> [&'static str; 2] {
        match self {
            Self::Rust => ["cargo build --release", "target/release/lib@IDENTIFIER@.so"],
            _ => ["make", "lib@NAME@.so"],
        }
    }
}

impl Verb for NewMethodArgs {
    fn run(&self, env: &mut Env) -> Result<CommandStatus> {
        let name = &self.name;
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
        ensure!(
            begins && name.len() <= plugin::LONGEST_NAME && name.chars().all(is_plain),
            "'{name}' cannot be the name of a method: it begins with a lower-case letter and has at most {} lower-case \
         letters, digits, - and _",
            plugin::LONGEST_NAME
        );
        let folder = self.output.clone().unwrap_or_else(|| name.into());
        let shown = folder.display();
        ensure!(!folder.exists(), "{shown} exists already: choose another name or --output");
        let [build, library] = self.language.build();
        let readme = README.replace("@BUILD@", build).replace("@LIBRARY@", library);
        let of_plugin = [("spmv_method.h", HEADER), ("README.md", &readme)];
        let is_plugin = self.language != Language::Cuda;
        ensure!(!self.openmp || self.language == Language::C, "--openmp: choose the language c");
        let files = self.language.files().iter().copied();
        let of_openmp = self.openmp.then_some(("threads.h", THREADS));
        let files = files.chain(of_plugin.into_iter().filter(|_| is_plugin)).chain(of_openmp);
        let texts = files.map(|(file, text)| {
            let text = if self.openmp { with_openmp(text) } else { text.to_owned() };
            (folder.join(filled(file, name)), filled(&text, name))
        });
        write_all(&folder, &texts.collect::<Vec<_>>())?;
        let next = if is_plugin {
            format!("{build}\n  spmv-bench check-method {}", filled(library, name))
        } else {
            format!("spmv-bench --kernel {name}.cu")
        };
        writeln!(
            env.stdout,
            "{shown} has a correct, simple method. Continue with:\n\n  cd {shown}\n  {next}\n\nREADME.md says how to \
         measure it."
        )?;
        Ok(CommandStatus::Ok)
    }
}

/// Writes all files of a new folder, or leaves nothing of it.
fn write_all(folder: &Path, files: &[(PathBuf, String)]) -> Result<()> {
    let write = |(path, text): &(PathBuf, String)| {
        let written = cache::replace(path, |file| file.write_all(text.as_bytes()));
        written.map_err(|error| io::Error::other(failed(path)(error)))
    };
    let written = cache::in_folder(folder_of(folder), || {
        files.iter().try_for_each(write).inspect_err(|_| drop(fs::remove_dir_all(folder)))
    });
    written.map_err(failed(folder))
}

/// What the template in C has in place of the threads of the program.
const OPENMP: [(&str, &str); 4] = [
    (
        "#include \"spmv_method.h\"\n\n/* What",
        "#include \"spmv_method.h\"\n#include \"threads.h\"\n\n/* What",
    ),
    ("    s->csr = csr;\n    *handle", "    s->csr = csr;\n    bind_threads(ctx);\n    *handle"),
    (
        "    return s->ctx->parallel(s->ctx, share, s);\n",
        "    /* The share of each thread, also if OpenMP provides fewer threads. */\n\
         #pragma omp parallel for schedule(static, 1) num_threads((int)s->ctx->threads)\n\
         \x20   for (uint32_t rank = 0; rank < s->ctx->threads; rank++) share(s, rank);\n    return SPMV_OK;\n",
    ),
    ("-std=c99 -O3", "-std=c99 -D_GNU_SOURCE -fopenmp -O3"),
];

fn with_openmp(template: &str) -> String {
    OPENMP.iter().fold(template.to_owned(), |text, (from, to)| text.replace(from, to))
}

fn filled(template: &str, name: &str) -> String {
    template.replace("@NAME@", name).replace("@IDENTIFIER@", &name.replace('-', "_"))
}
