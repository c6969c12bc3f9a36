// The logs of pages with edge-side includes, Varnish's and proxyd's, printed by the tools of both: the same text for the
// same arguments. A fragment is a transaction two levels below its page, or more; grouped by request a query that
// matches only a fragment prints the whole page, grouped by vxid the fragment alone.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findProgram } from '../harness/processes.ts';
import { type Product, ROOT } from '../harness/proxy.ts';

const WRITERS = ['varnish', 'proxyd'] as const;
const LINE = '%r %s %b %D %{Varnish:side}x %{Varnish:hitmiss}x %{Varnish:vxid}x %{VSL:Begin[3]}x';
const QUERIES = [
  'ReqURL eq "/slow2"',
  'Begin[3] eq "esi" and Timestamp:Resp[2] > 0.1',
  'ESI_xmlerror',
  'VCL_Error ~ "depth"',
  '{3}ReqURL',
  '{4+}RespStatus == 200',
  '{2-}RespStatus >= 400',
];

describe.skipIf(['log', 'ncsa', 'top'].some((name) => findProgram(`varnish${name}`) === null))(
  'fragments in a log',
  () => {
    let dir = '';
    beforeAll(() => {
      dir = mkdtempSync(join(tmpdir(), 'log-fragments-'));
      for (const writer of WRITERS) {
        const kept = new URL(`../console/views/log/esi-${writer}.vsl.gz`, import.meta.url);
        writeFileSync(join(dir, writer), gunzipSync(readFileSync(kept)));
      }
    });
    afterAll(() => rmSync(dir, { recursive: true }));

    const say = (
      product: Product,
      name: 'log' | 'ncsa' | 'top',
      args: readonly string[],
    ): Promise<string> => {
      const program = product === 'varnish' ? `varnish${name}` : process.execPath;
      const lead = product === 'varnish' ? [] : [join(ROOT, `dist/console/bin/proxy${name}.js`)];
      return new Promise((resolve, reject) => {
        execFile(program, [...lead, ...args], { maxBuffer: 1 << 24 }, (error, out) =>
          error === null ? resolve(out) : reject(error),
        );
      });
    };
    const same = async (name: 'log' | 'ncsa' | 'top', ...args: readonly string[]): Promise<string> => {
      const [theirs, ours] = await Promise.all([say('varnish', name, args), say('proxyd', name, args)]);
      expect(ours, args.join(' ')).toBe(theirs);
      return ours;
    };

    describe.each(WRITERS)('of %s', (writer) => {
      const file = (): string[] => ['-r', join(dir, writer)];

      it.each(['raw', 'vxid', 'request', 'session'])('as proxylog -g %s prints them', async (grouping) => {
        expect(await same('log', ...file(), '-g', grouping)).toMatch(/Begin +(c )?req \d+ esi/);
        for (const side of [['-b'], ['-c'], ['-E'], ['-E', '-b']])
          await same('log', ...file(), '-g', grouping, ...side);
      });

      it.each(QUERIES)('selected by %s', async (query) => {
        expect(await same('log', ...file(), '-g', 'request', '-q', query)).toContain(' esi\n');
        await same('log', ...file(), '-g', 'vxid', '-q', query);
        await same('log', ...file(), '-g', 'session', '-q', query);
      });

      it('as proxyncsa prints them: with -E alone, or whole groups', async () => {
        for (const side of [[], ['-b'], ['-b', '-c'], ['-E', '-b'], ['-c', '-E']])
          await same('ncsa', ...file(), '-F', LINE, ...side);
        expect(await same('ncsa', ...file(), '-F', LINE)).not.toContain(' esi\n');
        expect(await same('ncsa', ...file(), '-F', LINE, '-E')).toContain(' esi\n');
        expect(await same('ncsa', ...file(), '-F', LINE, '-g', 'request')).toContain(' esi\n');
      });

      it('as proxytop counts them', async () => {
        expect(await same('top', ...file(), '-1', '-i', 'ReqURL', '-c')).not.toContain('/slow2');
        expect(await same('top', ...file(), '-1', '-i', 'ReqURL', '-E')).toContain('/slow2');
      });
    });
  },
);
