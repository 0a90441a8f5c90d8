//! The messages of the compiler, without what is not for others: they become the reason of a row, and rows are
//! published.

/// The maximum number of bytes of the messages.
const MAX_BYTES: usize = 2 << 10;

/// Returns the messages on the files `own`, as many as there is room for. A message on another file, which the program
/// has included, is left out, because it quotes lines of that file. A message begins with `FILE(LINE): `.
pub fn shown(log: &str, own: &[&str]) -> String {
    let mut shown = String::new();
    let mut is_own = true;
    for line in log.lines() {
        if let Some(file) = file_of(line) {
            is_own = own.contains(&file);
            if !is_own {
                shown += &format!("a message on {file} is not shown\n");
            }
        }
        if is_own {
            shown += line;
            shown.push('\n');
        }
    }
    if let Some((end, _)) = shown.char_indices().find(|(end, _)| *end >= MAX_BYTES) {
        shown.truncate(end);
        shown += "\n[...]";
    }
    shown.trim_end().to_owned()
}

/// Returns the file of a line that begins a message.
fn file_of(line: &str) -> Option<&str> {
    let (place, _) = line.split_once("): ")?;
    let (file, number) = place.rsplit_once('(')?;
    number.parse::<u32>().is_ok().then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_other_files_and_endless_messages_are_left_out() {
        let log = "/etc/passwd(1): error: identifier \"root\" is undefined\n  root:x:0:0\n  ^\n\n\
                   my.cu(7): error: expected a \";\"\n  int x\n\n2 errors detected";
        assert_eq!(
            shown(log, &["my.cu", "common.cuh"]),
            "a message on /etc/passwd is not shown\nmy.cu(7): error: expected a \";\"\n  int x\n\n2 errors detected"
        );
        let long = shown(&"ä\n".repeat(10_000), &[]);
        assert!(long.len() < MAX_BYTES + 10 && long.ends_with("[...]"), "{}", long.len());
    }
}
