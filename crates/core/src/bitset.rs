//! A set of tool positions in one snapshot.

/// A fixed-size set of tool positions, one bit each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    /// An empty set that can hold positions below `len`.
    pub(crate) fn with_capacity(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)] }
    }

    /// Adds a position. The position must be below the capacity.
    pub(crate) fn insert(&mut self, position: usize) {
        self.words[position / 64] |= 1 << (position % 64);
    }

    /// Whether the position is in the set; positions beyond the capacity are not.
    pub(crate) fn contains(&self, position: usize) -> bool {
        self.words.get(position / 64).is_some_and(|word| word & (1 << (position % 64)) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::BitSet;

    #[test]
    fn holds_exactly_what_was_inserted() {
        let mut set = BitSet::with_capacity(130);
        for position in [0, 63, 64, 129] {
            set.insert(position);
        }
        let held: Vec<usize> = (0..200).filter(|position| set.contains(*position)).collect();
        assert_eq!(held, [0, 63, 64, 129]);
    }
}
