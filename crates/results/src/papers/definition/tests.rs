use super::*;

const BLOCK: &str = "[[measure]]\nmatrices = ['corpus']\nmethods = ['merge', 'mkl-*']\n";

fn parse(text: &str) -> Result<Experiment, String> {
    let text = format!("title = 'a'\nsource = 'b'\n{text}");
    Experiment::parse("x", "x.toml", &text).map_err(|error| error.to_string())
}

#[test]
fn what_is_not_understood_is_refused() {
    let error = |text: &str| parse(text).unwrap_err();
    assert!(error("").contains("missing field `measure`"));
    assert!(error(&format!("{BLOCK}speed = 3\n")).contains("unknown field `speed`"));
    let kind = error(&format!("{BLOCK}[[view]]\nkind = 'rooflin'\ntitle = 't'\n"));
    assert!(kind.contains("expected one of `plane`, `speedup`, "), "{kind}");
    assert!(kind.ends_with("; did you mean roofline?"), "{kind}");
    let methods = |list: &str| format!("[[measure]]\nmatrices = ['corpus']\nmethods = {list}\n");
    assert_eq!(error(&methods("[]")), "x.toml: a block lists no methods");
    assert!(error(&format!("{BLOCK}order = []\n")).contains("an empty list"));
    let rounds = "x.toml: rounds = 1001: it must be a whole number from 1 to 1000";
    assert_eq!(error(&format!("{BLOCK}rounds = 1001\n")), rounds);
    let claim = "[[claim]]\ntext = 't'\npaper = '1'\n\
                 measured.share = { of = 'seq', meets = 'num_rows > 1' }\n";
    for both in ["", "holds = '> 1'\nunjudged = 'u'\n"] {
        let neither = "x.toml: claim 't' needs either holds or unjudged";
        assert_eq!(error(&format!("{BLOCK}{claim}{both}")), neither);
    }
}

#[test]
fn generators_lists_multiply() {
    assert_eq!(expanded("gen:a,n=1"), ["gen:a,n=1"]);
    let words = ["gen:a,n=1,m=3", "gen:a,n=1,m=4", "gen:a,n=2,m=3", "gen:a,n=2,m=4"];
    assert_eq!(expanded("gen:a,n={1,2},m={3, 4}"), words);
    assert_eq!(expanded("gen:a,n={1,2"), ["gen:a,n={1,2"]);
    assert_eq!(expanded(&"{1}".repeat(10_000)), ["1".repeat(10_000)]);
}

/// 10^4 matrices are allowed. 2^70 would even overflow the integer type.
#[test]
fn lists_with_too_many_combinations_are_refused() {
    let block =
        |matrix: &str, lists: &str| parse(&format!("[[measure]]\nmatrices = ['{matrix}']\nmethods = ['seq']\n{lists}"));
    let ten = "{0,1,2,3,4,5,6,7,8,9}";
    assert!(block(&ten.repeat(4), "").is_ok());
    let error = block(&"{1,2}".repeat(70), "").unwrap_err();
    let all = usize::MAX;
    assert_eq!(error, format!("x.toml: a block has {all} matrices; at most 10000 are allowed"));
    let list = |name: &str, word: &str| format!("{name} = [{}]\n", [word; 22].join(", "));
    let lists = list("order", "'rcm'") + &list("cache", "'hot'") + &list("threads", "1");
    let error = block("corpus", &lists).unwrap_err();
    let expected = "x.toml: a block has 10648 combinations of lists; at most 10000 are allowed";
    assert_eq!(error, expected);
    let lines = |count| format!("table = \"\"\"\na\n{}\"\"\"\neach = [{{}}, {{}}]\n", "1\n".repeat(count));
    let one = "[[measure]]\nmatrices = ['a']\nmethods = ['seq']\n".to_owned();
    assert_eq!(parse(&(one.clone() + &lines(5000))).map(|it| it.blocks.len()), Ok(10_000));
    let error = parse(&(one + &lines(5001))).unwrap_err();
    assert!(error.contains("it stands for more than 10000 entries"), "{error}");
}

/// The names become those of folders, or are read from the folder of the definition.
#[test]
fn files_of_an_experiment_are_in_its_folder() {
    let dir = tempfile::tempdir().unwrap();
    let text = "title = 't'\nsource = 's'\n[[measure]]\nmatrices = ['a']\nmethods = ['seq']\n";
    let refusal = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        Experiment::read(&path).err().map(|error| error.to_string())
    };
    assert_eq!(refusal("a b.toml", text), None);
    for name in ["...toml", ".toml", ".hidden.toml"] {
        let refusal = refusal(name, text).unwrap();
        assert!(refusal.contains("cannot be the name of an experiment"), "{refusal}");
    }
    for published in ["/dev/zero", "../a.csv", "..", "a/b.csv"] {
        let refusal = refusal("a.toml", &format!("published = '{published}'\n{text}")).unwrap();
        let expected = format!("published = '{published}': it must be the name of a file");
        assert!(refusal.contains(&expected), "{refusal}");
    }
}
