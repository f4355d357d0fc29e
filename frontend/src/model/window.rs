//! The arithmetic of a windowed list: which rows are drawn, and how much room the others take.
//!
//! Heights are whole CSS pixels that the style sheet fixes too (`--row`, `--group` and their kin in tokens.css).

use std::ops::Range;

/// The heights of what a list is made of, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metrics {
    /// A group's header.
    pub group: u32,
    /// A row.
    pub row: u32,
    /// A row that shows badges.
    pub row_with_badges: u32,
}

impl Metrics {
    /// One line for each row.
    pub const WIDE: Self = Self { group: 36, row: 44, row_with_badges: 44 };
    /// Phones: the description has its own line, and so have the badges.
    pub const NARROW: Self = Self { group: 36, row: 62, row_with_badges: 86 };
}

/// Where every group and row is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    sections: Vec<Section>,
    height: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Section {
    /// From the top of the list.
    top: u32,
    header: u32,
    /// The ends of the rows from the top of the section, header included.
    ends: Vec<u32>,
}

impl Section {
    fn height(&self) -> u32 {
        self.ends.last().copied().unwrap_or(self.header)
    }

    fn row_top(&self, row: usize) -> u32 {
        if row == 0 { self.header } else { self.ends[row - 1] }
    }
}

/// What is drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Room above the first drawn section.
    pub before: u32,
    /// Room below the last drawn section.
    pub after: u32,
    /// The drawn sections.
    pub slices: Vec<Slice>,
}

/// The drawn part of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The section's index.
    pub section: usize,
    /// The whole section's height, so that its sticky header has its full way.
    pub height: u32,
    /// Room between the header and the first drawn row.
    pub skipped: u32,
    /// The drawn rows.
    pub rows: Range<usize>,
}

impl Layout {
    /// Lays out sections; for each row of a section, `true` means that it shows badges.
    pub fn new<S, R>(metrics: Metrics, sections: S) -> Self
    where
        S: IntoIterator<Item = R>,
        R: IntoIterator<Item = bool>,
    {
        let mut top = 0;
        let sections = sections
            .into_iter()
            .map(|rows| {
                let mut end = metrics.group;
                let ends = rows
                    .into_iter()
                    .map(|badges| {
                        end += if badges { metrics.row_with_badges } else { metrics.row };
                        end
                    })
                    .collect();
                let section = Section { top, header: metrics.group, ends };
                top += section.height();
                section
            })
            .collect();
        Self { sections, height: top }
    }

    /// The height of the whole list.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// What to draw when `scroll` pixels are above the view of `view` pixels, with `overscan` pixels more each way.
    pub fn window(&self, scroll: u32, view: u32, overscan: u32) -> Window {
        // A list that just became shorter may still be scrolled beyond its end.
        let scroll = scroll.min(self.height.saturating_sub(view));
        let from = scroll.saturating_sub(overscan);
        let to = scroll.saturating_add(view).saturating_add(overscan).min(self.height);
        let first = self.sections.partition_point(|section| section.top + section.height() <= from);
        let last = self.sections.partition_point(|section| section.top < to);
        let slices: Vec<Slice> = (first..last)
            .map(|index| {
                let section = &self.sections[index];
                let from = from.saturating_sub(section.top);
                let to = to - section.top;
                let start = section.ends.partition_point(|end| *end <= from);
                // A row is drawn if it begins before the edge: the end of the row above is its beginning.
                let end = if to <= section.header {
                    start
                } else {
                    (section.ends.partition_point(|end| *end < to) + 1).min(section.ends.len())
                };
                let start = start.min(end);
                Slice {
                    section: index,
                    height: section.height(),
                    skipped: section.row_top(start) - section.header,
                    rows: start..end,
                }
            })
            .collect();
        let before = slices.first().map_or(0, |slice| self.sections[slice.section].top);
        let drawn: u32 = slices.iter().map(|slice| slice.height).sum();
        Window { before, after: self.height - before - drawn, slices }
    }

    /// Where to scroll so that a row is in view below the sticky header; none if it is in view already.
    pub fn scroll_to(&self, section: usize, row: usize, scroll: u32, view: u32) -> Option<u32> {
        let section = self.sections.get(section)?;
        let end = section.top + section.ends.get(row)?;
        let top = section.top + section.row_top(row);
        // The first row brings its header along, and a later one must not hide under it.
        let top = top.saturating_sub(section.header);
        if top < scroll {
            Some(top)
        } else if end > scroll + view {
            Some(end - view)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Layout, Metrics, Slice, Window};

    const METRICS: Metrics = Metrics { group: 30, row: 10, row_with_badges: 20 };

    fn layout(sections: &[usize]) -> Layout {
        Layout::new(METRICS, sections.iter().map(|rows| vec![false; *rows]))
    }

    #[test]
    fn an_empty_list_draws_nothing() {
        assert_eq!(layout(&[]).window(0, 100, 50), Window::default());
        assert_eq!(layout(&[]).window(900, 100, 50), Window::default());
    }

    #[test]
    fn a_short_list_is_drawn_whole() {
        let window = layout(&[2, 1]).window(0, 500, 0);
        let slices = vec![
            Slice { section: 0, height: 50, skipped: 0, rows: 0..2 },
            Slice { section: 1, height: 40, skipped: 0, rows: 0..1 },
        ];
        assert_eq!(window, Window { before: 0, after: 0, slices });
    }

    #[test]
    fn the_middle_of_a_long_section_has_room_on_both_sides() {
        let layout = layout(&[1000]);
        let window = layout.window(5_030, 100, 20);
        assert_eq!(window.slices, [Slice { section: 0, height: 10_030, skipped: 4_980, rows: 498..512 }]);
        assert_eq!((window.before, window.after), (0, 0));
    }

    #[test]
    fn sections_out_of_view_are_room() {
        let layout = layout(&[100, 100, 100]);
        let window = layout.window(1_030 + 30, 100, 0);
        assert_eq!((window.before, window.after), (1_030, 1_030));
        assert_eq!(window.slices, [Slice { section: 1, height: 1_030, skipped: 0, rows: 0..10 }]);
    }

    #[test]
    fn every_view_is_filled_and_sums_up() {
        let layout =
            Layout::new(METRICS, [7_usize, 0, 31, 1, 400].map(|rows| (0..rows).map(|row| row % 3 == 0)));
        for scroll in (0..layout.height() + 50).step_by(7) {
            let window = layout.window(scroll, 90, 15);
            let drawn: u32 = window.slices.iter().map(|slice| slice.height).sum();
            assert_eq!(window.before + drawn + window.after, layout.height());
            let scroll = scroll.min(layout.height() - 90);
            for slice in &window.slices {
                let section = &layout.sections[slice.section];
                let first = section.top + section.header + slice.skipped;
                let last = section.top
                    + slice.rows.end.checked_sub(1).map_or(section.header, |row| section.ends[row]);
                let body = (section.top + section.header, section.top + section.height());
                assert!(first <= scroll.max(body.0), "a gap above at {scroll}");
                assert!(last >= (scroll + 90).min(body.1), "a gap below at {scroll}");
            }
        }
    }

    #[test]
    fn a_list_that_became_shorter_draws_its_end() {
        let window = layout(&[20]).window(9_000, 100, 0);
        assert_eq!(window.slices[0].rows, 10..20);
    }

    #[test]
    fn scrolls_only_as_far_as_needed() {
        let layout = layout(&[100]);
        assert_eq!(layout.scroll_to(0, 5, 0, 200), None);
        assert_eq!(layout.scroll_to(0, 50, 0, 200), Some(340));
        assert_eq!(layout.scroll_to(0, 0, 500, 200), Some(0), "the first row brings its header");
        assert_eq!(layout.scroll_to(0, 30, 400, 200), Some(300), "not hidden under the sticky header");
        assert_eq!(layout.scroll_to(0, 900, 0, 200), None);
        assert_eq!(layout.scroll_to(3, 0, 0, 200), None);
    }
}
