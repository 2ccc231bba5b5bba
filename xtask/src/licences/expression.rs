//! Decides what an SPDX licence expression demands.
//!
//! `WITH` binds tighter than `AND`, `AND` tighter than `OR`; the old `/` of cargo manifests is an
//! `OR`. A licence with an exception is one name, `X WITH Y`.

/// What a package offers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Expression {
    /// One licence.
    Name(String),
    /// Both hold together.
    And(Box<Expression>, Box<Expression>),
    /// Whoever uses the package chooses.
    Or(Box<Expression>, Box<Expression>),
}

impl Expression {
    /// Whether it can be met with accepted licences only.
    pub(super) fn holds(&self, accepted: &impl Fn(&str) -> bool) -> bool {
        match self {
            Self::Name(name) => accepted(name),
            Self::And(left, right) => left.holds(accepted) && right.holds(accepted),
            Self::Or(left, right) => left.holds(accepted) || right.holds(accepted),
        }
    }
}

/// Reads an expression; the error says what is wrong with it.
pub(super) fn parse(text: &str) -> Result<Expression, String> {
    let spaced = text.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = Words { words: spaced.split_whitespace().collect(), next: 0 };
    let expression = words.alternatives()?;
    match words.peek() {
        None => Ok(expression),
        Some(word) => Err(format!("unexpected `{word}`")),
    }
}

struct Words<'a> {
    words: Vec<&'a str>,
    next: usize,
}

impl<'a> Words<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.next).copied()
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(word);
        self.next += usize::from(found);
        found
    }

    fn alternatives(&mut self) -> Result<Expression, String> {
        let mut left = self.conjunction()?;
        while self.take("OR") {
            left = Expression::Or(Box::new(left), Box::new(self.conjunction()?));
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Expression, String> {
        let mut left = self.licence()?;
        while self.take("AND") {
            left = Expression::And(Box::new(left), Box::new(self.licence()?));
        }
        Ok(left)
    }

    fn licence(&mut self) -> Result<Expression, String> {
        if self.take("(") {
            let inner = self.alternatives()?;
            return if self.take(")") { Ok(inner) } else { Err("`)` is missing".to_owned()) };
        }
        let name = self.name()?;
        if self.take("WITH") {
            return Ok(Expression::Name(format!("{name} WITH {}", self.name()?)));
        }
        Ok(Expression::Name(name.to_owned()))
    }

    fn name(&mut self) -> Result<&'a str, String> {
        let word = self.peek().ok_or("a licence is missing at the end")?;
        let valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-.+:".contains(&byte);
        if matches!(word, "AND" | "OR" | "WITH") || !word.bytes().all(valid) {
            return Err(format!("`{word}` stands where a licence should"));
        }
        self.next += 1;
        Ok(word)
    }
}

#[cfg(test)]
mod tests;
