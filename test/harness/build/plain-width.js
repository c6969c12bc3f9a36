// Text whose width in cells is its length: ASCII, and what the screens are drawn with (dots, dashes, arrows, boxes, blocks,
// braille). No two of these characters make one together, none is two cells wide.
export const PLAIN =
  /^[\u0020-\u007e\u00b7\u2013\u2014\u2026\u2190-\u2193\u2500-\u25c6\u25cb\u25cf\u2800-\u28ff]*$/;
