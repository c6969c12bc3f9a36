// Lines of a log as text: those of `proxylog -g raw`, and those of a script's log.

import { Tag, type TagName } from '../../../protocol/tables/tags.ts';

export interface VslLine {
  vxid: number;
  tag: number;
  side: 'c' | 'b' | '-';
  text: string;
}

const LINE = /^(?:.*vsl\|)?\s*(\d+) (\w+)\s+([-bc]) ?(.*)$/;

/** The number of a tag; undefined if there is none of this name, which a client may have chosen. */
export function tagByName(name: string): number | undefined {
  return Object.hasOwn(Tag, name) ? Tag[name as TagName] : undefined;
}

/** Lines that are no records are left out. */
export function* replayed(text: string): Generator<VslLine> {
  for (const line of text.split(/\r?\n/)) {
    const [, vxid = '', name = '', side = '', record = ''] = LINE.exec(line) ?? [];
    const tag = tagByName(name);
    if (tag === undefined || Number(vxid) >= 2 ** 30) continue;
    yield { vxid: Number(vxid), tag, side: side as VslLine['side'], text: record };
  }
}
