// Lists of releases without JSON, as the console has them. The tables of 7.1 are compared with its JSON in
// test/differential/varnish-source.test.ts.
import { describe, expect, it } from 'vitest';
import { answerItems } from '../../../console/model/session/admin-store.ts';
import { parseBackendList } from '../../../console/model/session/backends.ts';
import { asJson, asText } from '../../../console/varnish/text-lists.ts';

describe('a list without JSON', () => {
  it('has its backends', () => {
    const body = [
      'Backend name                   Admin      Probe                Last updated',
      'boot.default                   probe      Healthy 8/8          Fri, 15 May 2020 13:12:09 GMT',
      'boot.slow                      probe      Sick 2/8             Fri, 15 May 2020 13:12:10 GMT',
      'boot.off                       sick       Sick                 Fri, 15 May 2020 13:12:10 GMT',
      'boot.plain                     probe      Healthy (no probe)   Fri, 15 May 2020 13:12:09 GMT',
      '',
    ].join('\n');
    const rows = parseBackendList(asJson('backend.list -j -p', body));
    expect(rows.map((r) => [r.name, r.admin, r.health, r.probe, r.lastChange])).toEqual([
      ['boot.default', 'probe', 'healthy', { good: 8, window: 8 }, 1589548329],
      ['boot.slow', 'probe', 'sick', { good: 2, window: 8 }, 1589548330],
      ['boot.off', 'sick', 'sick', null, 1589548330],
      ['boot.plain', 'probe', 'healthy', null, 1589548329],
    ]);
  });

  it.each([
    [
      'vcl.list -j',
      'active      auto/warm          3 boot\navailable   label/warm         0 next -> boot\n\n',
      [
        { status: 'active', state: 'auto', temperature: 'warm', busy: 3, name: 'boot' },
        {
          status: 'available',
          state: 'label',
          temperature: 'warm',
          busy: 0,
          name: 'next',
          label: { name: 'boot' },
        },
      ],
    ],
    [
      'ban.list -j',
      'Present bans:\n1558767713.5     4 -  obj.http.a ~ "b c"\n1558767712.572449     0 C\n',
      [
        { time: 1558767713.5, refs: 4, completed: false, spec: 'obj.http.a ~ "b c"' },
        { time: 1558767712.572449, refs: 0, completed: true, spec: '' },
      ],
    ],
    [
      'param.show -j',
      'accept_filter     -\ncc_command     "exec gcc %s" (default)\nthread_pools     4 [pools]\ndefault_ttl     120.000 [seconds] (default)\n',
      [
        { name: 'accept_filter', implemented: false },
        { name: 'cc_command', value: '"exec gcc %s"', default: '"exec gcc %s"' },
        { name: 'thread_pools', value: '4', units: 'pools' },
        { name: 'default_ttl', value: '120.000', units: 'seconds', default: '120.000' },
      ],
    ],
    ['storage.list -j', 'Storage devices:\n\tstorage.s0 = malloc\n', [{ name: 's0', storage: 'malloc' }]],
  ])('%s', (line, body, items) => {
    expect(answerItems(asJson(line, body))).toEqual(items);
  });

  it.each([
    ['vcl.list -j', { status: 105, body: 'Too many parameters' }, 'vcl.list'],
    ['backend.list -j -p', { status: 106, body: 'No Backends matches' }, 'backend.list'],
    ['backend.list -j', { status: 200, body: 'Backend name  Admin' }, 'backend.list'],
    ['param.show -j', { status: 106, body: 'Unknown parameter' }, 'param.show'],
    ['vcl.list -j', { status: 200, body: '[ 2, ["vcl.list"]]' }, null],
    ['vcl.list', { status: 106, body: '' }, null],
    ['panic.show -j', { status: 106, body: '' }, null],
    ['vcl.list -j', { status: 0, body: 'not connected' }, null],
    ['param.show -j', { status: 201, body: '[ 2,' }, null],
  ])('is asked for again: %j %j', (line, reply, plain) => {
    expect(asText(line, reply)).toBe(plain);
  });
});
