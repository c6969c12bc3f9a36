// Everything that the answer to a case hangs on, as text: what it does to its client and what its origin answers. The
// case runs once against stand-ins that note each call and its arguments, so that data which functions close over is
// seen, too. It plays nothing. Packed bodies are noted unpacked: two releases of zlib pack the same text differently.
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';

/** More calls than any case makes: one that polls for a change would loop forever. */
const MOST_CALLS = 500;

function shortBytes(bytes: Buffer): string {
  const at = bytes.indexOf('\x1f\x8b', 0, 'latin1');
  if (at >= 0) {
    try {
      const head = bytes.toString('latin1', 0, at).replace(/(content-length: )\d+/i, '$1PACKED');
      return `${head}gzip of ${shortBytes(gunzipSync(bytes.subarray(at)))}`;
    } catch {
      // not gzip after all
    }
  }
  return bytes.length > 500 ? createHash('sha256').update(bytes).digest('hex') : bytes.toString('latin1');
}

function shown(value: unknown): string {
  return (
    JSON.stringify(value, (_, each: unknown) => {
      if (typeof each === 'function') return answerOf(each as (...args: unknown[]) => unknown);
      if (each instanceof RegExp) return String(each);
      if (typeof each !== 'object' || each === null) return each;
      const { type, data } = each as { type?: unknown; data?: number[] };
      return type === 'Buffer' && data !== undefined ? shortBytes(Buffer.from(data)) : each;
    }) ?? 'nothing'
  );
}

/** Responses of a reply maker to the first requests; its source text if it needs more of them. */
function answerOf(make: (...args: unknown[]) => unknown): string {
  try {
    const heads = ['GET / HTTP/1.1\r\n\r\n', 'GET / HTTP/1.1\r\nIf-None-Match: "e"\r\n\r\n'];
    return heads
      .flatMap((head) =>
        [1, 2, 3].map((n) =>
          shown(make({ method: 'GET', url: '/', proto: 'HTTP/1.1', head, body: Buffer.alloc(0) }, n)),
        ),
      )
      .join('\n');
  } catch {
    return String(make).replace(/__vi_import_\d+__\./g, '');
  }
}

/** A stand-in for anything: method calls are recorded, and return the stand-in. */
function standIn(calls: string[]): object {
  const stand: object = new Proxy(() => stand, {
    get: (_, name) => {
      if (name === 'then' || typeof name === 'symbol') return undefined;
      return (...args: unknown[]) => {
        if (calls.push(`${name} ${args.map(shown).join(' ')}`) > MOST_CALLS)
          throw new Error('too many calls');
        return stand;
      };
    },
  });
  return stand;
}

export interface Playable {
  script?: (origin: never) => void;
  play: (player: never, proxy: never, origin: never) => Promise<void>;
}

export async function caseInput(test: Playable): Promise<string> {
  const calls: string[] = [];
  const stand = standIn(calls) as never;
  try {
    test.script?.(stand);
    await test.play(stand, stand, stand);
  } catch (error) {
    calls.push(String(error));
  }
  return calls.join('\n');
}

/** By name, under what all of the cases share: their program and parameters. */
export async function caseInputs(
  shared: string,
  cases: readonly (Playable & { name: string })[],
): Promise<Map<string, string>> {
  return new Map(
    await Promise.all(
      cases.map(async (c): Promise<[string, string]> => [c.name, `${shared}\n${await caseInput(c)}`]),
    ),
  );
}
