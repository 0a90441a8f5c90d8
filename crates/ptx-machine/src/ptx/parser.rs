//! The parser: builds a module from tokens.

use super::lexer::{Lexeme, Token, tokens};
use super::syntax::{Entry, Module, Operand, Place, Registers, Statement, Variable, error_at};

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    at: usize,
    place: Place,
}

const SPACES: [&str; 4] = [".global", ".const", ".shared", ".local"];

/// Parses a PTX text. Fails if it is not PTX or contains a declaration that is not supported.
pub fn parse(text: &str) -> Result<Module<'_>, String> {
    Parser { text, tokens: tokens(text)?, at: 0, place: Place::default() }.module()
}

impl<'a> Parser<'a> {
    fn module(mut self) -> Result<Module<'a>, String> {
        let mut module = Module { text: self.text, ..Module::default() };
        while let Some(token) = self.next() {
            match token.lexeme {
                Lexeme::Word(".version" | ".target" | ".address_size" | ".pragma") => {
                    self.skip_line(token.line);
                }
                Lexeme::Word(".file") => {
                    let number = self.number()?;
                    if let Some(Token { lexeme: Lexeme::Text(name), .. }) = self.next() {
                        module.files.push((number, name));
                    }
                    self.skip_line(token.line);
                }
                Lexeme::Word(".section") => self.skip_braces()?,
                Lexeme::Word(".visible" | ".extern" | ".weak" | ".common") => (),
                Lexeme::Word(space) if SPACES.contains(&space) => {
                    module.variables.push(self.variable(&space[1..])?);
                    self.mark(';')?;
                }
                Lexeme::Word(".entry") => module.entries.push(self.entry()?),
                _ => return Err(self.refused(token, "this declaration is not supported")),
            }
        }
        Ok(module)
    }

    fn entry(&mut self) -> Result<Entry<'a>, String> {
        let mut entry = Entry { name: self.word()?, ..Entry::default() };
        if self.takes('(') {
            while !self.takes(')') {
                let token = self.needed()?;
                if token.lexeme != Lexeme::Word(".param") {
                    return Err(self.refused(token, "`.param` is expected"));
                }
                entry.parameters.push(self.variable("param")?);
                self.takes(',');
            }
        }
        while !self.takes('{') {
            let token = self.needed()?;
            match token.lexeme {
                Lexeme::Word(".maxntid" | ".reqntid") => entry.max_threads = Some(self.product()?),
                Lexeme::Word(".minnctapersm" | ".maxnreg" | ".maxclusterrank") => {
                    self.number()?;
                }
                Lexeme::Word(".pragma") => self.skip_line(token.line),
                _ => return Err(self.refused(token, "this directive is not supported")),
            }
        }
        self.body(&mut entry)?;
        Ok(entry)
    }

    /// Parses a shape such as `128, 1, 1` and returns its number of threads.
    fn product(&mut self) -> Result<usize, String> {
        let mut product = self.number()?;
        while self.takes(',') {
            product *= self.number()?;
        }
        Ok(product as usize)
    }

    /// Parses the statements up to the closing brace of the kernel. Inner braces are ignored.
    fn body(&mut self, entry: &mut Entry<'a>) -> Result<(), String> {
        self.place = Place::default();
        let mut depth = 1;
        while depth > 0 {
            let token = self.needed()?;
            match token.lexeme {
                Lexeme::Mark('{') => depth += 1,
                Lexeme::Mark('}') => depth -= 1,
                Lexeme::Mark('@') => entry.statements.push(self.statement(token)?),
                Lexeme::Word(".loc") => self.loc(token.line)?,
                Lexeme::Word(".pragma") => self.skip_line(token.line),
                Lexeme::Word(".reg") => self.registers(entry)?,
                Lexeme::Word(space) if SPACES.contains(&space) => {
                    entry.variables.push(self.variable(&space[1..])?);
                    self.mark(';')?;
                }
                Lexeme::Word(word) if self.takes(':') => {
                    entry.labels.push((word, entry.statements.len()));
                }
                Lexeme::Word(opcode) if !opcode.starts_with('.') => {
                    entry.statements.push(self.statement(token)?);
                }
                _ => return Err(self.refused(token, "this is not a PTX statement")),
            }
        }
        Ok(())
    }

    /// Parses a statement after its first token, which is its opcode or the mark before its guard.
    fn statement(&mut self, first: Token<'a>) -> Result<Statement<'a>, String> {
        let (guard, opcode) = match first.lexeme {
            Lexeme::Word(opcode) => (None, opcode),
            _ if self.takes('!') => (Some(Operand::Not(self.word()?)), self.word()?),
            _ => (Some(Operand::Name(self.word()?)), self.word()?),
        };
        let operands = self.operands(';')?;
        Ok(Statement { line: first.line, place: self.place, guard, opcode, operands })
    }

    fn operands(&mut self, end: char) -> Result<Vec<Operand<'a>>, String> {
        let mut operands = Vec::new();
        while !self.takes(end) {
            operands.push(self.operand()?);
            self.takes(',');
        }
        Ok(operands)
    }

    fn operand(&mut self) -> Result<Operand<'a>, String> {
        let token = self.needed()?;
        match token.lexeme {
            Lexeme::Mark('!') => Ok(Operand::Not(self.word()?)),
            Lexeme::Mark('{') => Ok(Operand::Vector(self.operands('}')?)),
            Lexeme::Mark('[') => self.address(),
            Lexeme::Mark('-') => Ok(Operand::Number(self.number()?.wrapping_neg())),
            Lexeme::Number(text) => Ok(Operand::Number(self.value(token, text)?)),
            Lexeme::Word(name) if self.takes('|') => Ok(Operand::Pair(name, self.word()?)),
            Lexeme::Word(name) => Ok(Operand::Name(name)),
            _ => Err(self.refused(token, "this is not an operand")),
        }
    }

    fn address(&mut self) -> Result<Operand<'a>, String> {
        let token = self.needed()?;
        let base = match token.lexeme {
            Lexeme::Word(name) => Operand::Name(name),
            Lexeme::Number(text) => Operand::Number(self.value(token, text)?),
            _ => return Err(self.refused(token, "this is not an address")),
        };
        let offset = if self.takes('+') || self.next_is('-') { self.signed()? as i64 } else { 0 };
        self.mark(']')?;
        Ok(Operand::Address(base.into(), offset))
    }

    /// Parses a variable after its state space: `.align 8 .b8 name[16] = {1, 2}`.
    fn variable(&mut self, space: &'a str) -> Result<Variable<'a>, String> {
        let mut alignment = None;
        let mut kind = None;
        let name = loop {
            match self.word()? {
                ".align" => alignment = Some(self.number()? as usize),
                word if word == ".ptr" || SPACES.contains(&word) => (),
                word if word.starts_with('.') && kind.is_none() => kind = Some(word),
                word => break word,
            }
        };
        let Some((kind, element)) = kind.and_then(|kind| Some((kind, self.bytes_of(kind)?))) else {
            return Err(self.refused(self.tokens[self.at - 1], "this type is not supported"));
        };
        let mut bytes = element;
        while self.takes('[') {
            bytes *= if self.next_is(']') { 0 } else { self.number()? as usize };
            self.mark(']')?;
        }
        let initial = if self.takes('=') { self.initial(element)? } else { Vec::new() };
        let alignment = alignment.unwrap_or(element);
        Ok(Variable { name, space, kind, alignment, bytes, initial })
    }

    /// Parses initial values and returns them as numbers of `element` bytes each.
    fn initial(&mut self, element: usize) -> Result<Vec<u8>, String> {
        let several = self.takes('{');
        let mut bytes = self.signed()?.to_le_bytes()[..element].to_vec();
        while several && !self.takes('}') {
            self.mark(',')?;
            bytes.extend_from_slice(&self.signed()?.to_le_bytes()[..element]);
        }
        Ok(bytes)
    }

    fn bytes_of(&self, kind: &str) -> Option<usize> {
        let bits: usize = kind.strip_prefix(['.'])?.get(1..)?.parse().ok()?;
        matches!(bits, 8 | 16 | 32 | 64).then_some(bits / 8)
    }

    fn registers(&mut self, entry: &mut Entry<'a>) -> Result<(), String> {
        let kind = self.word()?;
        loop {
            let name = self.word()?;
            let count = if self.takes('<') { Some(self.number()?) } else { None };
            if count.is_some() {
                self.mark('>')?;
            }
            entry.registers.push(Registers { name, count, kind });
            if !self.takes(',') {
                return self.mark(';');
            }
        }
    }

    /// Parses a place after `.loc`: file, line and column, and the place of the inlined call.
    fn loc(&mut self, line: usize) -> Result<(), String> {
        self.place = Place { at: (self.number()?, self.number()?), inlined_at: None };
        while let Some(token) = self.tokens.get(self.at).copied()
            && token.line == line
        {
            self.at += 1;
            if token.lexeme == Lexeme::Word("inlined_at") {
                self.place.inlined_at = Some((self.number()?, self.number()?));
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Option<Token<'a>> {
        let token = self.tokens.get(self.at).copied();
        self.at += 1;
        token
    }

    fn needed(&mut self) -> Result<Token<'a>, String> {
        let last = self.tokens.last().map_or(1, |token| token.line);
        self.next().ok_or_else(|| error_at(self.text, last, "the text ends unexpectedly"))
    }

    fn word(&mut self) -> Result<&'a str, String> {
        let token = self.needed()?;
        match token.lexeme {
            Lexeme::Word(word) => Ok(word),
            _ => Err(self.refused(token, "a name is expected")),
        }
    }

    fn signed(&mut self) -> Result<u64, String> {
        let negated = self.takes('-');
        let number = self.number()?;
        Ok(if negated { number.wrapping_neg() } else { number })
    }

    fn number(&mut self) -> Result<u64, String> {
        let token = self.needed()?;
        match token.lexeme {
            Lexeme::Number(text) => self.value(token, text),
            _ => Err(self.refused(token, "a number is expected")),
        }
    }

    /// Parses a number in the notation of PTX (PTX ISA, section 4.5).
    fn value(&self, token: Token<'a>, text: &str) -> Result<u64, String> {
        let digits = text.trim_end_matches('U');
        let value = match digits.as_bytes() {
            [b'0', b'f' | b'F' | b'd' | b'D' | b'x' | b'X', ..] => u64::from_str_radix(&digits[2..], 16),
            [b'0', b'b' | b'B', ..] => u64::from_str_radix(&digits[2..], 2),
            [b'0', _, ..] => u64::from_str_radix(digits, 8),
            _ => digits.parse(),
        };
        value.map_err(|_| self.refused(token, "this is not a number of at most 64 bits"))
    }

    /// Consumes the next token if it is this mark. Returns whether it was.
    fn takes(&mut self, mark: char) -> bool {
        let found = self.next_is(mark);
        self.at += usize::from(found);
        found
    }

    fn next_is(&self, mark: char) -> bool {
        self.tokens.get(self.at).is_some_and(|token| token.lexeme == Lexeme::Mark(mark))
    }

    fn mark(&mut self, mark: char) -> Result<(), String> {
        if self.takes(mark) {
            return Ok(());
        }
        let token = self.needed()?;
        Err(self.refused(token, &format!("`{mark}` is expected")))
    }

    fn skip_line(&mut self, line: usize) {
        while self.tokens.get(self.at).is_some_and(|token| token.line == line) {
            self.at += 1;
        }
    }

    fn skip_braces(&mut self) -> Result<(), String> {
        let mut depth = 0;
        loop {
            match self.needed()?.lexeme {
                Lexeme::Mark('{') => depth += 1,
                Lexeme::Mark('}') if depth == 1 => return Ok(()),
                Lexeme::Mark('}') => depth -= 1,
                _ => (),
            }
        }
    }

    fn refused(&self, token: Token<'a>, reason: &str) -> String {
        error_at(self.text, token.line, reason)
    }
}
