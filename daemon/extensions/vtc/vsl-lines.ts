// Lines of a log as text: those of `proxylog -g raw`, and those of a script's log.

import { Tag, type TagName } from '../../../protocol/tables/tags.ts';

export interface VslLine {
  vxid: number;
  tag: number;
  side: 'c' | 'b' | '-';
  text: string;
}

const LINE = /^(?:.*vsl\|)?\s*(\d+) (\w+)\s+([-bc]) ?(.*)$/;

/** Lines that are no records are left out. */
export function* replayed(text: string): Generator<VslLine> {
  for (const line of text.split(/\r?\n/)) {
    const [, vxid = '', name = '', side = '', record = ''] = LINE.exec(line) ?? [];
    const tag = Tag[name as TagName] as number | undefined;
    if (tag === undefined || Number(vxid) >= 2 ** 30) continue;
    yield { vxid: Number(vxid), tag, side: side as VslLine['side'], text: record };
  }
}
