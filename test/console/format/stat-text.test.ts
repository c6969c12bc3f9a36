import { expect, it } from 'vitest';
import {
  type CounterValue,
  statJson,
  statLines,
  statList,
  statXml,
} from '../../../console/format/stat-text.ts';

const counters: CounterValue[] = [
  { name: 'MAIN.cache_hit', flag: 'c', format: 'i', level: 'info', description: 'Hits & more', value: '5' },
  {
    name: 'MAIN.sess_fail_econnaborted',
    flag: 'c',
    format: 'i',
    level: 'info',
    description: 'Long',
    value: '0',
  },
  {
    name: 'VBE.boot.default.happy',
    flag: 'b',
    format: 'b',
    level: 'info',
    description: 'Probes',
    value: '18446744073709551615',
  },
];

it('prints lines whose name column only grows', () => {
  expect(statLines(counters, 10)).toBe(
    'MAIN.cache_hit               5         0.50 Hits & more\n' +
      'MAIN.sess_fail_econnaborted            0         0.00 Long\n' +
      'VBE.boot.default.happy      18446744073709551615          .   Probes\n',
  );
});

it('keeps 64 bits in JSON', () => {
  const text = statJson(counters, new Date(2026, 10, 21, 1, 2, 3));
  expect(text).toContain('"value": 18446744073709551615\n');
  const parsed = JSON.parse(text);
  expect(parsed.version).toBe(1);
  expect(parsed.timestamp).toBe('2026-11-21T01:02:03');
  expect(parsed.counters['MAIN.cache_hit']).toEqual({
    description: 'Hits & more',
    flag: 'c',
    format: 'i',
    value: 5,
  });
  expect(JSON.parse(statJson([], new Date())).counters).toEqual({});
});

it('escapes XML and lists names', () => {
  expect(statXml(counters.slice(0, 1), new Date(2026, 0, 1))).toBe(
    '<?xml version="1.0"?>\n<proxystat timestamp="2026-01-01T00:00:00">\n\t<stat>\n\t\t<name>MAIN.cache_hit</name>\n' +
      '\t\t<value>5</value>\n\t\t<flag>c</flag>\n\t\t<format>i</format>\n\t\t<description>Hits &amp; more</description>\n' +
      '\t</stat>\n</proxystat>\n',
  );
  expect(statList(counters).split('\n')[3]).toBe('MAIN.cache_hit                 Hits & more');
});
