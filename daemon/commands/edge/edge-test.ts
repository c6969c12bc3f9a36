// edge.test: asks a listener of our own for the test object, as the edge would, and looks at every header.

import { request } from 'node:http';
import type { CommandReply } from '../../../protocol/messages.ts';
import type { ListenerAddress } from '../../link.ts';
import { bad, ok } from '../reply.ts';
import type { EdgeServices } from '../worker-services.ts';

/** A value of Via as a real edge network sends it. */
const VIA = '1.1 v1-akamaitech.net(ghost) (AkamaiGHost), 1.1 akamai.net(ghost) (AkamaiGHost)';
const SIZE = 20_480;
const PATIENCE = 5000;
const MAX_BODY = 1 << 20;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bytes: number;
}

/** What has to be in the answer, and the header it is in. */
const CHECKS: readonly (readonly [string, RegExp])[] = [
  ['edge-control', /^max-age=70$/],
  ['cache-control', /^post-check=60$/],
  ['via', /, 1\.1 edge-connector \(Edge-Connector\/[0-9.]+\)$/],
  ['accept-ranges', /^bytes$/],
];

export async function testEdge(
  edge: EdgeServices | null,
  listeners: readonly ListenerAddress[],
): Promise<CommandReply> {
  if (edge === null) return bad('No program that imports edge is loaded.');
  const [listener] = listeners;
  if (listener === undefined) return bad('There is no listener that takes plain HTTP.');
  const path = `${edge.settings.prefix}/testobject.html`;
  let answer: Answer;
  try {
    answer = await ask(listener, path);
  } catch (cause) {
    return bad(`${path}: ${(cause as Error).message}`);
  }
  const lines = [
    line('status', answer.status === 200, String(answer.status), '200'),
    line('body', answer.bytes === SIZE, `${answer.bytes} bytes`, `${SIZE} bytes`),
    line(
      'content-encoding',
      answer.headers['content-encoding'] === undefined,
      answer.headers['content-encoding'] ?? 'none',
      'none',
    ),
    ...CHECKS.map(([name, wanted]) => {
      const value = answer.headers[name] ?? '';
      return line(name, wanted.test(value), value === '' ? 'missing' : value, wanted.source);
    }),
  ];
  const text = `GET ${path}\n${lines.join('')}`;
  return lines.some((each) => each.startsWith('bad'))
    ? bad(`${text}The program has to include edge_auto.vcl, or to make the calls in it.\n`)
    : ok(text);
}

function line(name: string, right: boolean, value: string, wanted: string): string {
  return right ? `ok   ${name}: ${value}\n` : `bad  ${name}: ${value} (wanted ${wanted})\n`;
}

function ask(listener: ListenerAddress, path: string): Promise<Answer> {
  const any = listener.address === '0.0.0.0' || listener.address === '::';
  const where =
    listener.path === undefined || listener.path === ''
      ? {
          host: any ? (listener.address === '::' ? '::1' : '127.0.0.1') : listener.address,
          port: listener.port,
        }
      : { socketPath: listener.path };
  return new Promise((answered, failed) => {
    const asked = request(
      { ...where, path, headers: { Host: 'edge-test', Via: VIA, 'Accept-Encoding': 'gzip' }, agent: false },
      (response) => {
        let bytes = 0;
        response.on('data', (piece: Buffer) => {
          bytes += piece.length;
          if (bytes > MAX_BODY) response.destroy(new Error('the answer is too long'));
        });
        response.on('error', failed);
        response.on('end', () =>
          answered({
            status: response.statusCode ?? 0,
            headers: response.headers as Record<string, string | undefined>,
            bytes,
          }),
        );
      },
    );
    asked.setTimeout(PATIENCE, () => asked.destroy(new Error('no answer within 5 s')));
    asked.on('error', failed);
    asked.end();
  });
}
