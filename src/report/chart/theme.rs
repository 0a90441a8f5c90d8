//! Sizes, text widths, and the colour map. A unit is a pixel of the picture at its natural width.

/// The width of a picture.
pub const WIDTH: f64 = 660.0;
/// The font size of texts.
pub const FONT: f64 = 13.0;
/// The distance between lines of text.
pub const LINE: f64 = 19.0;
/// The distance from the middle of a line to its baseline.
pub const BASELINE: f64 = 4.5;

/// Returns an upper bound of the width of a text, from the widest common font (DejaVu Sans). The font that the
/// viewer uses is unknown.
pub fn text_width(text: &str) -> f64 {
    let width = |letter: char| match letter {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | '\'' | '|' | ' ' => 0.35,
        'f' | 't' | 'r' | '-' | '(' | ')' | '/' => 0.43,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 1.0,
        '=' | '+' | '<' | '>' | '→' | '↑' | '×' | 'A'..='Z' => 0.84,
        letter if (letter as u32) < 0x2100 => 0.65,
        _ => 1.1,
    };
    FONT * text.chars().map(width).sum::<f64>()
}

/// The maximum width of the names of categories, rows and columns.
pub const NAMES: f64 = 290.0;

/// Returns the width of the widest name, at most [`NAMES`].
pub fn widest(names: &[String]) -> f64 {
    names.iter().map(|name| text_width(name)).fold(0.0, f64::max).min(NAMES)
}

/// Cuts a text to the available width, with an ellipsis.
pub fn shortened(text: &str, room: f64) -> String {
    if text_width(text) <= room {
        return text.to_owned();
    }
    let room = room - text_width("…");
    let ends = text.char_indices().map(|(end, _)| end);
    let end = ends.take_while(|&end| text_width(&text[..end]) <= room).last();
    format!("{}…", &text[..end.unwrap_or(0)])
}

/// Breaks a text into lines between words. A word that is too wide is cut.
pub fn wrapped(text: &str, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(line) + text_width(" ") + text_width(word) <= room => {
                *line = format!("{line} {word}");
            }
            _ => lines.push(shortened(word, room)),
        }
    }
    lines
}

/// The Viridis colour map at equal distances, from the darkest to the lightest colour.
const VIRIDIS: [u32; 10] = [
    0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e, 0x1f9e89, 0x35b779, 0x6dcd59, 0xb4de2c,
    0xfde725,
];

/// Returns the colour for a share (0 to 1) of the range, and the text colour for it.
pub fn viridis(share: f64) -> (String, &'static str) {
    let place = share.clamp(0.0, 1.0) * (VIRIDIS.len() - 1) as f64;
    let below = (place as usize).min(VIRIDIS.len() - 2);
    let mixed = [16, 8, 0].map(|shift| {
        let [from, to] = [below, below + 1].map(|stop| f64::from(VIRIDIS[stop] >> shift & 0xff));
        from + (to - from) * (place - below as f64)
    });
    // Above this relative luminance black contrasts more than white.
    let luminance: f64 =
        mixed.iter().zip([0.2126, 0.7152, 0.0722]).map(|(c, w)| w * (c / 255.0).powf(2.2)).sum();
    let [red, green, blue] = mixed.map(|part| part.round() as u8);
    (format!("#{red:02x}{green:02x}{blue:02x}"), if luminance > 0.18 { "#000" } else { "#fff" })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The widths are in thousandths of the font size, from the font itself.
    #[test]
    fn texts_are_not_wider_than_estimated() {
        let luxembourg =
            [278, 634, 592, 615, 974, 635, 612, 634, 411, 635, 500, 612, 521, 974].iter().sum();
        for (text, width) in
            [("luxembourg_osm", luxembourg), ("W", 989), ("1.5M", 636 + 318 + 636 + 863)]
        {
            assert!(1000.0 * text_width(text) / FONT >= f64::from(width), "{text}");
        }
    }

    #[test]
    fn texts_are_cut_where_they_are_too_wide() {
        // Five letters and the ellipsis: (0.65 + 0.65 + … + 1.1) = 4.35 times the font size.
        assert_eq!(shortened("abcde", 3.25 * FONT), "abcde");
        assert_eq!(shortened("abcdef", 3.25 * FONT), "abc…");
        assert_eq!(shortened("abc", 0.0), "…");
    }

    #[test]
    fn texts_are_broken_between_words() {
        let room = text_width("aaaa bbbb");
        assert_eq!(
            wrapped("aaaa  bbbb cccc\ndddddddddddd e", room),
            ["aaaa bbbb", "cccc", "ddddddd…", "e"]
        );
        assert!(wrapped(" ", room).is_empty());
    }

    #[test]
    fn colours_lie_between_those_of_the_map() {
        assert_eq!(viridis(-1.0), ("#440154".into(), "#fff"));
        assert_eq!(viridis(1.0), ("#fde725".into(), "#000"));
        assert_eq!(viridis(0.5), ("#23908c".into(), "#000"));
    }
}
