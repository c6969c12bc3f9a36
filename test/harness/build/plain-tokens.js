// Changes of the library that splits the text of a frame into cells, made where the screens are bundled: it asks
// Intl.Segmenter for every cell, copies the list of styles for each, and compares the lists of neighbours by six sets. Plain
// text is split by its length instead, and cells of one run share their list, so that neighbours mostly have the same one.
// A third of the work of a frame was there.

import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { PLAIN, STYLES } from './plain-width.js';

/** By file of the library: what is replaced, and by what. Each text occurs there once. */
const CHANGES = {
  'tokenize.js': [
    ['const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });', ''],
    ['segmenter.segment(str)', 'segments(str)'],
  ],
  'styledChars.js': [
    ['styles: [...codes]', 'styles: codes'],
    [
      'ret += ansiCodesToString(diffAnsiCodes(chars[i - 1].styles, char.styles));',
      `const before = chars[i - 1].styles;
       if (before !== char.styles && before.length + char.styles.length > 0)
         ret += ansiCodesToString(diffAnsiCodes(before, char.styles));`,
    ],
  ],
};

const ADDED = {
  'tokenize.js': `
    let segmenter;
    function segments(str) {
      if (!${PLAIN}.test(str.includes('\\x1b') ? str.replace(${STYLES}, '') : str)) {
        segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
        return segmenter.segment(str);
      }
      const list = [];
      for (let index = 0; index < str.length; index++) list.push({ segment: str[index], index });
      return list;
    }`,
  'styledChars.js': '',
};

/** The source of a file with its changes; throws where the library is another. */
function changed(name, text) {
  let source = text;
  for (const [from, to] of CHANGES[name]) {
    if (source.split(from).length !== 2) throw new Error(`${name} of ansi-tokenize has changed: ${from}`);
    source = source.replace(from, () => to);
  }
  return source + ADDED[name];
}

/** A plugin of esbuild. */
export const tokens = {
  name: 'tokens',
  setup(build) {
    build.onLoad({ filter: /\/ansi-tokenize\/build\/(tokenize|styledChars)\.js$/ }, async ({ path }) => ({
      contents: changed(basename(path), await readFile(path, 'utf8')),
    }));
  },
};
