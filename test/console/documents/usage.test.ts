import { expect, it } from 'vitest';
import { parseUsage } from '../../../console/documents/usage.ts';

it('reads options in brackets', () => {
  const usage = parseUsage(
    'Usage: t <options>\n\nOptions:\n [-1]        Once\n [-g <a|b>] Grouping\n [--json]    JSON\n',
  );
  expect(usage).toEqual({
    synopsis: ['t <options>'],
    prose: '',
    options: [
      { flag: '-1', argument: '', help: 'Once' },
      { flag: '-g', argument: 'a|b', help: 'Grouping' },
      { flag: '--json', argument: '', help: 'JSON' },
    ],
  });
});

it('reads options without, alternatives, lines that go on, and what stands before', () => {
  const text =
    'Usage: t [-n]\n       t -T x\n\nSome words.\n\n  -a [<name>=]x[,y]  # Where; \n     [,z=<u>]        #   repeatable\n' +
    '  -n <dir>          Place\n  -h | -V           This text\n  -? | -Q           # That\n  --long file [-j]  # Check\n';
  const usage = parseUsage(text);
  expect(usage.synopsis).toEqual(['t [-n]', 't -T x']);
  expect(usage.prose).toBe('Some words.');
  expect(usage.options).toEqual([
    { flag: '-a', argument: '[<name>=]x[,y][,z=<u>]', help: 'Where; repeatable' },
    { flag: '-n', argument: 'dir', help: 'Place' },
    { flag: '-h', argument: '', help: 'This text' },
    { flag: '-V', argument: '', help: 'This text' },
    { flag: '-?', argument: '', help: 'That' },
    { flag: '-Q', argument: '', help: 'That' },
    { flag: '--long', argument: 'file [-j]', help: 'Check' },
  ]);
});
