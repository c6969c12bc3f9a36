// Text whose width in cells is its length: ASCII, and what the screens are drawn with (dots, dashes, quotes, arrows, boxes,
// blocks, braille, the placeholders of panes). No two of these characters make one together, none is two cells wide.
export const PLAIN =
  /^[\u0020-\u007e\u00b5\u00b7\u00d7\u2013\u2014\u2019\u2026\u2190-\u2193\u2500-\u25c6\u25cb\u25cf\u2800-\u28ff\ue000-\uf8ff]*$/;

/** Colours and styles, which have no width. */
export const STYLES = /\x1b\[[\d;]*m/g;
