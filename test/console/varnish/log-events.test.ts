// Events of a Varnish, derived from its log and its parameters.
import { describe, expect, it } from 'vitest';
import { LogEvents } from '../../../console/varnish/log-events.ts';
import { ParameterWatch } from '../../../console/varnish/parameter-watch.ts';
import { encodeRecord } from '../../../protocol/log-record.ts';
import { Tag } from '../../../protocol/tables/tags.ts';

const cli = (text: string): Buffer => encodeRecord(Tag.CLI, 0, '-', text);
const did = (line: string, status = 200): Buffer[] => [cli(`Rd ${line}`), cli(`Wr ${status} 0 `)];
const ping = (at: number): Buffer[] => [cli('Rd ping'), cli(`Wr 200 19 PONG ${at} 1.0`)];
const health = (text: string): Buffer => encodeRecord(Tag.Backend_health, 0, '-', text);
const load = (name: string, at: string): Buffer[] => did(`vcl.load ${name} vcl_${name}.${at}/vgc.so 1auto`);

describe('events of a log', () => {
  it('are commands that were carried out, and changes of health', () => {
    const events = new LogEvents().read(
      Buffer.concat([
        ...load('next', '1795551778.25'),
        ...did('vcl.use "next"'),
        ...did('vcl.use nope', 106),
        ...did('ban req.url ~ ^/x '),
        ...did('backend.set_health default sick'),
        ...did('vcl.state boot 0cold'),
        health('boot.default Went sick 4---X-R- 2 3 4 0.001 0.001 "HTTP/1.1 503 Service Unavailable"'),
        health('default Still sick 4---X-R- 2 3 4 0.001 0.001 "HTTP/1.1 503 Service Unavailable"'),
        health('default Back healthy 4---X-RH 3 3 4 0.001 0.001 "HTTP/1.1 200 OK"'),
        ...did('start'),
      ]),
      2e9,
    );
    expect(events).toEqual([
      { at: 1795551778.25, kind: 'program', text: 'vcl.load next' },
      { at: 2e9, kind: 'program', text: 'vcl.use next' },
      { at: 2e9, kind: 'ban', text: 'ban req.url ~ ^/x' },
      { at: 2e9, kind: 'health', text: 'backend.set_health default sick' },
      { at: 2e9, kind: 'health', text: 'boot.default went sick (down): HTTP/1.1 503 Service Unavailable' },
      { at: 2e9, kind: 'health', text: 'default went healthy (up): HTTP/1.1 200 OK' },
    ]);
  });

  it('have the time of the last ping or request before them, and none is made up', () => {
    const stamp = encodeRecord(Tag.Timestamp, 7, 'c', 'Start: 1795551779.500000 0.000000 0.000000');
    const events = new LogEvents().read(
      Buffer.concat([...did('ban a'), ...ping(1795551777), ...did('ban b'), stamp, ...did('ban c')]),
    );
    expect(events.map(({ at, text }) => [at, text])).toEqual([
      [1795551777, 'ban b'],
      [1795551779.5, 'ban c'],
    ]);
  });

  it('are not the commands sent to a child before it starts', () => {
    const log = new LogEvents();
    log.begin();
    const first = [...load('boot', '1795551775.7'), ...did('vcl.use boot'), ...did('start')];
    expect(log.read(Buffer.concat([...first, ...did('vcl.use b')]), 2e9).map(({ text }) => text)).toEqual([
      'vcl.load boot',
      'vcl.use b',
    ]);
    // The log does not go back to the start.
    log.begin();
    expect(log.read(Buffer.concat([...did('vcl.use c'), ...ping(1)]), 2e9).map(({ text }) => text)).toEqual([
      'vcl.use c',
    ]);
    log.begin();
    log.read(Buffer.concat(did('vcl.use d')), 2e9);
    expect(log.settle().map(({ text }) => text)).toEqual(['vcl.use d']);
  });
});

it('parameters that were set are seen from one look to the next', () => {
  const watch = new ParameterWatch();
  const table = (ttl: string): string =>
    `accept_filter     -\ndefault_ttl     ${ttl}\nthread_pools     2 [pools] (default)\n`;
  expect(watch.changes(table('120.000 [seconds] (default)'))).toEqual([]);
  expect(watch.changes(table('120.000 [seconds] (default)'))).toEqual([]);
  expect(watch.changes('')).toEqual([]);
  expect(watch.changes(table('60.000 [seconds]'))).toEqual([
    'default_ttl 60.000 [seconds] (was 120.000 [seconds])',
  ]);
});
