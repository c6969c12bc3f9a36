// Bytes of a read buffer are lent for one turn. Who holds a loan across calls says so by the type of a field, and
// stands here with the reason why it is never looked at later.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { modules, ROOT } from './imports.ts';

const HOLDERS: Readonly<Record<string, string>> = {
  'daemon/flow/piece.ts parts': 'a lent piece is used up within its call, any other has a holder',
  'daemon/http1/message.ts raw': 'steps of the turn log and forward it; the last of them sets it to null',
  'daemon/net/request-head.ts bytes': 'the session hands it on as soon as the head was read',
  'daemon/backend/head-reader.ts carry': 'ownCarry() copies what is still lent at the end of the read',
};

/** A field; a parameter on a line of its own ends in a comma. */
const FIELD =
  /^ {2}(?:(?:private|protected|public|readonly|static|declare) )*#?(\w+)[?!]?: [^=(\n]*\b(?:LentBytes|LentPiece)\b[^\n]*;$/gm;

it('only known fields hold lent bytes', () => {
  const found = modules()
    .filter((file) => file.startsWith('daemon/'))
    .flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(FIELD)].map(([, name]) => `${file} ${name}`),
    );
  expect([...new Set(found)].toSorted()).toEqual(Object.keys(HOLDERS).toSorted());
});

/** Modules that take the buffers out of pieces: each holds the piece as long as it uses them. */
const BUFFERS: Readonly<Record<string, string>> = {
  'daemon/backend/origin-writer.ts': 'the kernel, until its completion',
  'daemon/filters/esi-fetch.ts': 'a parser, while its piece is held',
  'daemon/filters/zlib-filter.ts': 'zlib in another thread, until it is done',
  'daemon/flow/piece.ts': 'a larger piece, which holds them',
  'daemon/net/client-handle.ts': 'the kernel, until its completion',
  'daemon/net/client-wire.ts': 'the same over a socket',
  'daemon/net/tls-handle.ts': 'encrypts them in the call, or holds the piece until it does',
  'daemon/request/delivery.ts': 'a chunk, which holds them',
  'daemon/request/fragment-body.ts': 'parts of a piece that is held; a search in a call',
  'daemon/request/pipe.ts': 'own bytes, in a pipe',
};

it('only known modules take the buffers of pieces', () => {
  const found = modules().filter(
    (file) => file.startsWith('daemon/') && /\bbuffersOf\(/.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  expect(found.toSorted()).toEqual(Object.keys(BUFFERS).toSorted());
});

/** Casts past the type, by module: each is used up within its call. */
const CASTS: Readonly<Record<string, string>> = {
  'daemon/backend/head-reader.ts': 'searches a blank line',
  'daemon/http1/head-parser.ts': 'looks at the same memory by words',
  'daemon/http1/latin1.ts': 'makes a string, or writes one to a Buffer',
  'daemon/http1/lent-bytes.ts': 'copies',
  'daemon/transaction/refuse.ts': 'searches a blank line',
};

const CAST = /\b(?:buf|src|raw|lent)\)? as (?:unknown as )?(?!const\b)\w/;

it('only known modules cast lent bytes to others', () => {
  const found = modules().filter(
    (file) => file.startsWith('daemon/') && CAST.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  expect(found.toSorted()).toEqual(Object.keys(CASTS).toSorted());
});
