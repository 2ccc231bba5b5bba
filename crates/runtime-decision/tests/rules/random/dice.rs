//! Decides how numbers become choices.

/// Numbers that are used up one by one.
#[derive(Debug)]
pub(crate) struct Dice<'a>(std::slice::Iter<'a, u16>);

impl<'a> Dice<'a> {
    pub(crate) fn new(rolls: &'a [u16]) -> Self {
        Self(rolls.iter())
    }

    /// A number below `sides`; 0 when no number is left.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0.next().map_or(0, |roll| usize::from(*roll) % sides)
    }

    /// True in one of `sides` cases, and never when no number is left.
    pub(crate) fn once_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == sides - 1
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.len() == 0
    }
}
