// The extension uuid: identifiers of RFC 9562, versions 1, 3, 4 and 5. Follows libvmod-uuid 1.4, and uuid of the common
// collection of modules.

import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclContext } from '../../contract/context.ts';
import type { Extension } from '../../contract/extension.ts';
import { byName, row } from '../extension-rows.ts';

type Text = string | null;

/** Namespaces with a name (RFC 9562 section 6.6), and the nil UUID (section 5.9). */
const NAMESPACES: ReadonlyMap<string, string> = new Map([
  ['nil', '00000000-0000-0000-0000-000000000000'],
  ['ns:DNS', '6ba7b810-9dad-11d1-80b4-00c04fd430c8'],
  ['ns:URL', '6ba7b811-9dad-11d1-80b4-00c04fd430c8'],
  ['ns:OID', '6ba7b812-9dad-11d1-80b4-00c04fd430c8'],
  ['ns:X500', '6ba7b814-9dad-11d1-80b4-00c04fd430c8'],
]);
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Of the Gregorian calendar before the epoch, in steps of 100 ns (RFC 9562 section 5.1). */
const GREGORIAN_START = 122_192_928_000_000_000n;
const STEPS_A_MILLISECOND = 10_000n;

/** Sets the version and the variant (RFC 9562 sections 4.1 and 4.2); 16 bytes. */
function shown(bytes: Buffer, version: number): string {
  bytes[6] = ((bytes[6] as number) & 0x0f) | (version << 4);
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = bytes.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Makes identifiers of version 1. Each thread has a node and a sequence of its own, both random: the address of a
 * network card would tell where they were made, and threads could make the same ones. */
class TimeBased {
  /** Eight bytes: the sequence and the node. */
  readonly #place = randomBytes(8);
  #last = 0n;

  constructor() {
    // A node that is no address of a card has the multicast bit (RFC 9562 section 6.10).
    this.#place[2] = (this.#place[2] as number) | 1;
  }

  next(): string {
    const now = BigInt(Date.now()) * STEPS_A_MILLISECOND + GREGORIAN_START;
    // Within a millisecond, and where the clock goes back, they are counted.
    this.#last = now > this.#last ? now : this.#last + 1n;
    const bytes = Buffer.alloc(16);
    bytes.writeUInt32BE(Number(this.#last & 0xffff_ffffn));
    bytes.writeUInt16BE(Number((this.#last >> 32n) & 0xffffn), 4);
    bytes.writeUInt16BE(Number((this.#last >> 48n) & 0x0fffn), 6);
    this.#place.copy(bytes, 8);
    return shown(bytes, 1);
  }
}

const timeBased = new TimeBased();

function ofName(version: 3 | 5) {
  const algorithm = version === 3 ? 'md5' : 'sha1';
  return (ctx: VclContext, namespace: Text, name: Text): string | null => {
    const space = NAMESPACES.get(namespace ?? '') ?? namespace ?? '';
    if (!UUID.test(space)) {
      ctx.log.put(Tag.VCL_Error, `uuid.uuid_v${version}(): "${space.slice(0, 50)}" is not a namespace`);
      return null;
    }
    const hash = createHash(algorithm).update(Buffer.from(space.replaceAll('-', ''), 'hex'));
    return shown(hash.update(Buffer.from(name ?? '', 'latin1')).digest(), version);
  };
}

const NAMESPACE =
  'The namespace is "nil", "ns:DNS", "ns:URL", "ns:OID", "ns:X500" or a UUID; with another the result is unset, and a VCL_Error is logged.';

export const uuid: Extension = {
  name: 'uuid',
  help: 'universally unique identifiers',
  notes: {
    versions:
      'Identifiers follow RFC 9562. Those of version 1 contain the time; their node is a random number of the thread, not the address of a network card. They are no secrets: take version 4 for what must not be guessed.',
  },
  // biome-ignore format: a row is a line
  functions: byName(
    row('STRING uuid()', () => timeBased.next(), 'A UUID of version 1, as uuid_v1().'),
    row('STRING uuid_v1()', () => timeBased.next(), 'A UUID of version 1, by the time.'),
    row('STRING uuid_v3(STRING, STRING)', ofName(3), `The UUID of version 3, an MD5 hash, of a namespace and a name. ${NAMESPACE}`),
    row('STRING uuid_v4()', () => randomUUID(), 'A UUID of version 4: random.'),
    row('STRING uuid_v5(STRING, STRING)', ofName(5), `The UUID of version 5, a SHA-1 hash, of a namespace and a name. ${NAMESPACE}`),
    row('STRING get_rand_uuid()', () => randomUUID(), 'As uuid_v4(), by the name in the common collection of modules.'),
  ),
};
