import { describe, expect, it } from 'vitest';
import { groupText } from '../../console/format/log-text.ts';
import { encodeRecord } from '../../protocol/log-record.ts';
import type { Grouping } from '../../protocol/messages.ts';
import { Tag, type TagName } from '../../protocol/tables/tags.ts';
import { Grouper } from '../../queries/group.ts';

/** Records as "vxid side Tag text" lines through a grouper; groups as text without blanks at line ends. */
function group(
  grouping: Grouping,
  lines: string,
  options: { limit?: number; timeout?: number } = {},
  end?: 'flush' | 'expire',
): string[] {
  const out: string[] = [];
  const grouper = new Grouper({ grouping, ...options }, (g) =>
    out.push(groupText(g, false).replace(/ +$/gm, '').trim()),
  );
  for (const line of lines.trim().split('\n')) {
    const m = /^\s*(\d+) (\S) (\S+) ?(.*)$/.exec(line) as unknown as [
      string,
      string,
      'c' | 'b',
      TagName,
      string,
    ];
    grouper.push(encodeRecord(Tag[m[3]], Number(m[1]), m[2], m[4]), 0);
  }
  if (end === 'flush') grouper.flush();
  if (end === 'expire') {
    grouper.expire(119);
    expect(out).toEqual([]);
    grouper.expire(120);
  }
  return out;
}

const RESTART = `
  41 c Begin sess 0 HTTP/1
  41 c Link req 42 rxreq
  42 c Begin req 41 rxreq
  42 c Link req 43 restart
  43 c Begin req 42 restart
  43 c Link bereq 45 fetch
  45 b Begin bereq 43 fetch
  45 b End
  42 c End
  43 c End
  41 c End`;

describe('grouping', () => {
  it('keeps restarts on their level', () => {
    expect(group('request', RESTART)).toEqual([
      `*   << Request  >> 42
-   Begin          req 41 rxreq
-   Link           req 43 restart
-   End
*   << Request  >> 43
-   Begin          req 42 restart
-   Link           bereq 45 fetch
-   End
**  << BeReq    >> 45
--  Begin          bereq 43 fetch
--  End`,
    ]);
    expect(group('session', RESTART)[0]?.match(/<<.*/g)).toEqual([
      '<< Session  >> 41',
      '<< Request  >> 42',
      '<< Request  >> 43',
      '<< BeReq    >> 45',
    ]);
    expect(group('vxid', RESTART)).toHaveLength(4);
  });

  it('waits for a parent whose Begin comes after its child', () => {
    expect(
      group(
        'request',
        '3 b Begin bereq 2 fetch\n3 b End\n2 c Begin req 1 rxreq\n2 c Link bereq 3 fetch\n2 c End',
      ),
    ).toEqual([
      `*   << Request  >> 2
-   Begin          req 1 rxreq
-   Link           bereq 3 fetch
-   End
**  << BeReq    >> 3
--  Begin          bereq 2 fetch
--  End`,
    ]);
  });

  it('ignores what has no Begin, and remarks on what makes no sense', () => {
    expect(
      group(
        'vxid',
        '7 c ReqURL /\n7 c End\n9 c Begin foo 1 rxreq\n9 c End\n8 c Begin req 8 x\n8 c Begin req 1 x\n8 c Link req\n8 c End',
      ),
    ).toEqual([
      `*   << Unknown  >> 9
-   Begin          foo 1 rxreq
-   VSL            unknown vxid type (9:Begin "foo 1 rxreq")
-   End
-   VSL            vtx of unknown type marked complete`,
      `*   << Request  >> 8
-   Begin          req 8 x
-   VSL            link to self (8:Begin "req 8 x")
-   Begin          req 1 x
-   VSL            duplicate begin (8:Begin "req 1 x")
-   Link           req
-   VSL            parse error (8:Link "req")
-   End`,
    ]);
  });

  it('closes the oldest when too many are open, a linked child that never began included', () => {
    expect(
      group('request', '50 c Begin req 1 rxreq\n50 c Link req 51 esi\n50 c Link req 52 restart\n50 c End', {
        limit: 2,
      }),
    ).toEqual([
      `*   << Request  >> 50
-   Begin          req 1 rxreq
-   Link           req 51 esi
-   Link           req 52 restart
-   VSL            store overflow
-   End            synth
**  << Request  >> 51
--  Begin          req 0 synth
--  VSL            store overflow
--  End            synth
**  << Request  >> 52
--  Begin          req 0 synth
--  VSL            store overflow
--  End            synth`,
    ]);
  });

  it('closes by time and by flush', () => {
    const open = '2 c Begin req 1 rxreq\n2 c ReqURL /';
    const closed = (why: string): string =>
      `*   << Request  >> 2\n-   Begin          req 1 rxreq\n-   ReqURL         /\n-   VSL            ${why}\n-   End            synth`;
    expect(group('vxid', open, {}, 'expire')).toEqual([closed('timeout')]);
    expect(group('request', open, {}, 'flush')).toEqual([closed('flush')]);
  });

  it('holds nothing after a group is out', () => {
    const grouper = new Grouper({ grouping: 'session' }, () => {});
    for (let i = 1; i < 100; i++) {
      grouper.push(encodeRecord(Tag.Begin, i, 'c', 'sess 0 HTTP/1'), 0);
      grouper.push(encodeRecord(Tag.End, i, 'c', ''), 0);
    }
    expect(grouper.size).toBe(0);
  });

  it('survives parents in a circle', () => {
    expect(() =>
      group(
        'request',
        '2 c Begin req 3 esi\n3 c Begin req 2 esi\n2 c Link req 3 esi\n3 c Link req 2 esi\n2 c End\n3 c End',
        {},
        'flush',
      ),
    ).not.toThrow();
  });
});
