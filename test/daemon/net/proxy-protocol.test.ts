// Every preamble whole, cut at every byte, and after other bytes: the outcome never depends on how it arrives.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  crc32c,
  MAX_PREAMBLE,
  type ProxyPreamble,
  parseProxyPreamble,
} from '../../../daemon/net/proxy-protocol.ts';
import { runs } from '../../harness/runs.ts';
import { bytes, IPV4, IPV6, SIGNATURE, TLS, tlv, v1, v2, v2WithChecksum } from './proxy-bytes.ts';

const REQUEST = Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
const TCP4 = 'PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222';
const TOLD_V1 = '1 1.2.3.4 1111 5.6.7.8 2222';
const TOLD_V2 = '2 1.2.3.4 1111 5.6.7.8 2222';
const join = (...parts: Uint8Array[]): Buffer => Buffer.concat(parts);

/** An outcome in one line: records, then addresses, or the close reason. */
function summary(found: ProxyPreamble): string {
  const parts = [found.text, found.garbage];
  if (found.state === 'refused') parts.push(found.reason);
  if (found.client !== null) parts.push(`${found.client.ip} ${found.client.port}`);
  if (found.server !== null) parts.push(`${found.server.ip} ${found.server.port}`);
  for (const [type, value] of found.attributes ?? []) {
    parts.push(`${type.toString(16)}=${Buffer.from(value).toString('latin1')}`);
  }
  return parts.filter((p) => p !== null).join(' | ');
}

const ADDRESSES = '1.2.3.4 1111 | 5.6.7.8 2222';
const REFUSED_SOURCE = 'PROXY1: Cannot resolve source address | RX_JUNK';
const REFUSED_DESTINATION = 'PROXY1: Cannot resolve destination address | RX_JUNK';
const FEW = 'PROXY1: Too few fields | RX_JUNK';
const MANY = 'PROXY1: Too many fields | RX_JUNK';
const FAMILY = 'PROXY1: Wrong TCP[46] field | RX_JUNK';

const CASES: [name: string, preamble: Buffer, outcome: string][] = [
  ['IPv4', v1(TCP4), `${TOLD_V1} | ${ADDRESSES}`],
  [
    'IPv6',
    v1('PROXY TCP6 2001:db8::1 2001:db8::2 1 65535'),
    '1 2001:db8::1 1 2001:db8::2 65535 | 2001:db8::1 1 | 2001:db8::2 65535',
  ],
  [
    'IPv6 in its long form, and mapped IPv4',
    v1('PROXY TCP6 2001:0db8:0:0:0:0:0:1 ::ffff:1.2.3.4 1 2'),
    '1 2001:0db8:0:0:0:0:0:1 1 ::ffff:1.2.3.4 2 | 2001:db8::1 1 | 1.2.3.4 2',
  ],
  ['ports zero', v1('PROXY TCP4 1.2.3.4 5.6.7.8 0 0'), '1 1.2.3.4 0 5.6.7.8 0 | 1.2.3.4 0 | 5.6.7.8 0'],
  ['unknown, as Varnish has it', v1('PROXY UNKNOWN'), FEW],
  ['unknown with fields', v1('PROXY UNKNOWN a b c d'), FAMILY],
  ['nothing told', v1('PROXY'), FEW],
  ['no ports', v1('PROXY TCP4 1.2.3.4 5.6.7.8'), FEW],
  ['a field more', v1(`${TCP4} 3`), MANY],
  ['a blank at the end', v1(`${TCP4} `), MANY],
  ['two blanks', v1('PROXY TCP4  1.2.3.4 5.6.7.8 1 2'), MANY],
  ['a tab', v1('PROXY\tTCP4 1.2.3.4 5.6.7.8 1 2'), FEW],
  ['a NUL', v1('PROXY TCP4 1.2.3.4\0 5.6.7.8 1 2'), FEW],
  ['a NUL at the end', v1(`${TCP4}\0`), FEW],
  ['another word', v1('PROXYX TCP4 1.2.3.4 5.6.7.8 1 2'), 'RX_JUNK'],
  ['lower case', v1('proxy TCP4 1.2.3.4 5.6.7.8 1 2'), 'RX_JUNK'],
  ['another family', v1('PROXY TCP5 1.2.3.4 5.6.7.8 1 2'), FAMILY],
  ['a name for an address', v1('PROXY TCP4 localhost 5.6.7.8 1 2'), REFUSED_SOURCE],
  ['an octet too large', v1('PROXY TCP4 1.2.3.4 5.6.7.256 1 2'), REFUSED_DESTINATION],
  ['an octal octet', v1('PROXY TCP4 01.2.3.4 5.6.7.8 1 2'), REFUSED_SOURCE],
  ['a short address', v1('PROXY TCP4 1.2 5.6.7.8 1 2'), REFUSED_SOURCE],
  ['IPv6 as IPv4', v1('PROXY TCP4 ::1 5.6.7.8 1 2'), REFUSED_SOURCE],
  ['IPv4 as IPv6', v1('PROXY TCP6 ::1 5.6.7.8 1 2'), REFUSED_DESTINATION],
  ['an IPv6 zone', v1('PROXY TCP6 fe80::1%lo ::1 1 2'), REFUSED_SOURCE],
  ['brackets', v1('PROXY TCP6 [::1] ::1 1 2'), REFUSED_SOURCE],
  ['a port too large', v1('PROXY TCP4 1.2.3.4 5.6.7.8 65536 2'), REFUSED_SOURCE],
  ['a port below zero', v1('PROXY TCP4 1.2.3.4 5.6.7.8 1 -1'), REFUSED_DESTINATION],
  ['a signed port', v1('PROXY TCP4 1.2.3.4 5.6.7.8 +1 2'), REFUSED_SOURCE],
  ['a zero before a port', v1('PROXY TCP4 1.2.3.4 5.6.7.8 01 2'), REFUSED_SOURCE],
  ['an empty port', v1('PROXY TCP4 1.2.3.4 5.6.7.8  2'), REFUSED_SOURCE],
  ['a CR in the line', Buffer.from(`PROXY TCP4 1.2.3.4\r 5.6.7.8 1 2\r\n`), 'RX_JUNK'],
  ['the longest line', v1(`PROXY UNKNOWN ${'a'.repeat(108 - 16)}`), FEW],
  ['no preamble', REQUEST, 'RX_JUNK'],
  ['an empty line first', join(bytes(13, 10), REQUEST), 'RX_JUNK'],

  ['v2 IPv4', v2(0x21, 0x11, IPV4), `${TOLD_V2} | ${ADDRESSES}`],
  [
    'v2 IPv6',
    v2(0x21, 0x21, IPV6),
    '2 2001:db8::1 3333 2001:db8::2 4444 | 2001:db8::1 3333 | 2001:db8::2 4444',
  ],
  ['v2 local', v2(0x20, 0x00), '2 local local local local'],
  ['v2 local with what it need not have', v2(0x20, 0x11, IPV4), '2 local local local local'],
  ['v2 unspecified', v2(0x21, 0x00, bytes(1, 2)), 'PROXY2: Ignoring UNSPEC|UNSPEC addresses'],
  ['v2 UDP', v2(0x21, 0x12, IPV4), 'PROXY2: Ignoring unsupported protocol (0x12)'],
  ['v2 Unix', v2(0x21, 0x31, Buffer.alloc(216)), 'PROXY2: Ignoring unsupported protocol (0x31)'],
  ['v2 unknown family', v2(0x21, 0x01, IPV4), 'PROXY2: Ignoring unsupported protocol (0x01)'],
  ['v2 short IPv4', v2(0x21, 0x11, IPV4.subarray(1)), 'PROXY2: Ignoring short IPv4 addresses (11)'],
  ['v2 short IPv6', v2(0x21, 0x21, IPV6.subarray(1)), 'PROXY2: Ignoring short IPv6 addresses (35)'],
  ['v2 unknown command', v2(0x22, 0x11, IPV4), 'PROXY2: bad command (2) | RX_JUNK'],
  ['v2 another version', v2(0x31, 0x11, IPV4), 'PROXY2: bad version (3) | RX_JUNK'],
  ['v2 broken signature', join(SIGNATURE.subarray(0, 10), bytes(88, 10), IPV4), 'RX_JUNK'],
  [
    'v2 mapped IPv4',
    v2(0x21, 0x21, Buffer.from(`${'00000000000000000000ffff01020304'.repeat(2)}00010002`, 'hex')),
    '2 1.2.3.4 1 1.2.3.4 2 | 1.2.3.4 1 | 1.2.3.4 2',
  ],
  [
    'v2 IPv4 in IPv6',
    v2(0x21, 0x21, Buffer.from(`${'00'.repeat(12)}01020304${'00'.repeat(15)}0100010002`, 'hex')),
    '2 ::1.2.3.4 1 ::1 2 | ::1.2.3.4 1 | ::1 2',
  ],
  [
    'v2 attributes',
    v2(0x21, 0x11, join(IPV4, tlv(1, 'h2'), tlv(2, 'www.example.com'), tlv(4, ''))),
    `${TOLD_V2} | ${ADDRESSES} | 1=h2 | 2=www.example.com | 4=`,
  ],
  [
    'v2 the first of two alike',
    v2(0x21, 0x11, join(IPV4, tlv(1, 'h2'), tlv(1, 'h3'))),
    `${TOLD_V2} | ${ADDRESSES} | 1=h2`,
  ],
  [
    'v2 TLS with a checksum',
    v2WithChecksum(0x11, join(IPV4, TLS, tlv(1, 'h2'))),
    `${TOLD_V2} | ${ADDRESSES} | 20=\x07\0\0\0\x09 | 21=TLSv1.3 | 22=cn.example | 23=AES | 24=SHA256 | 25=RSA2048 | 1=h2`,
  ],
  ['v2 wrong checksum', v2WithChecksum(0x11, IPV4, 1), `${TOLD_V2} | PROXY2: CRC error | RX_JUNK`],
  [
    'v2 checksum of another length',
    v2(0x21, 0x11, join(IPV4, tlv(3, 'abc'))),
    `${TOLD_V2} | PROXY2: CRC error | RX_JUNK`,
  ],
  [
    'v2 wrong checksum that nobody needs',
    v2(0x20, 0x11, join(IPV4, tlv(3, 'abcd'))),
    '2 local local local local',
  ],
  [
    'v2 attribute without its length',
    v2(0x21, 0x11, join(IPV4, bytes(1, 0))),
    `${TOLD_V2} | PROXY2: TLV Dribble bytes | RX_JUNK`,
  ],
  [
    'v2 attribute that goes too far',
    v2(0x21, 0x11, join(IPV4, bytes(1, 0, 3, 65, 66))),
    `${TOLD_V2} | PROXY2: TLV Length Error | RX_JUNK`,
  ],
  [
    'v2 TLS attribute too short',
    v2(0x21, 0x11, join(IPV4, tlv(0x20, 'abcd'))),
    `${TOLD_V2} | PROXY2: TLV Length Error | RX_JUNK`,
  ],
  [
    'v2 TLS attribute with a broken one inside',
    v2(0x21, 0x11, join(IPV4, tlv(0x20, join(bytes(1, 0, 0, 0, 0), bytes(0x21, 0, 9, 65))))),
    `${TOLD_V2} | PROXY2: TLV Length Error | RX_JUNK`,
  ],
  [
    'v2 dribble inside TLS',
    v2(0x21, 0x11, join(IPV4, tlv(0x20, join(bytes(1, 0, 0, 0, 0), bytes(0x21, 0))))),
    `${TOLD_V2} | PROXY2: TLV Dribble bytes | RX_JUNK`,
  ],
  ['v2 larger than allowed', v2(0x21, 0x11, join(IPV4, tlv(5, 'x'.repeat(994)))), 'RX_OVERFLOW'],
];

describe.each(CASES)('%s', (_name, preamble, outcome) => {
  const refused = / ?RX_\w+$/.test(outcome);

  it('is read', () => {
    const found = parseProxyPreamble(preamble, 0, preamble.length) as ProxyPreamble;
    expect(summary(found)).toBe(outcome);
    expect(found.length).toBe(refused ? 0 : preamble.length);
  });

  it('is the same before a request and after other bytes', () => {
    const before = Buffer.from('PROXY \r\n');
    const whole = join(before, preamble, REQUEST);
    const found = parseProxyPreamble(whole, before.length, whole.length) as ProxyPreamble;
    expect(summary(found)).toBe(outcome);
    expect(found.length).toBe(refused ? 0 : preamble.length);
  });

  it('never changes once it is known, wherever it is cut', () => {
    for (let end = 0; end < preamble.length; end++) {
      // A stale byte after the cut must not be read.
      const piece = join(preamble.subarray(0, end), bytes(13, 10, 13));
      const found = parseProxyPreamble(piece, 0, end);
      if (found === null) continue;
      expect([end, summary(found)]).toEqual([end, outcome]);
      expect(refused).toBe(true);
    }
  });
});

describe('what does not end', () => {
  it('waits for the rest of a line until it is too long', () => {
    const line = Buffer.from(`PROXY UNKNOWN ${'a'.repeat(2000)}`);
    expect(parseProxyPreamble(line, 0, MAX_PREAMBLE - 1)).toBeNull();
    expect(parseProxyPreamble(line, 0, MAX_PREAMBLE)).toMatchObject({ reason: 'RX_OVERFLOW' });
  });

  it('refuses a line that ends beyond the longest', () => {
    const line = v1(`PROXY UNKNOWN ${'a'.repeat(109 - 16)}`);
    expect(parseProxyPreamble(line, 0, line.length)).toMatchObject({ reason: 'RX_OVERFLOW' });
  });

  it('refuses a length that is too large before the bytes are there', () => {
    const head = v2(0x21, 0x11, bytes(), MAX_PREAMBLE - 15);
    expect(parseProxyPreamble(head, 0, head.length)).toMatchObject({ reason: 'RX_OVERFLOW' });
    const largest = v2(0x21, 0x11, bytes(), MAX_PREAMBLE - 16);
    expect(parseProxyPreamble(largest, 0, largest.length)).toBeNull();
  });
});

describe('CRC-32C', () => {
  it.each([
    ['123456789', 0xe3069283],
    ['', 0],
    ['\0'.repeat(32), 0x8a9136aa],
  ])('%j', (text, sum) => {
    const data = Buffer.from(text, 'latin1');
    expect(crc32c(data, 0, data.length)).toBe(sum);
  });

  it('counts four bytes as zero', () => {
    const data = Buffer.from('ab1234cd');
    expect(crc32c(data, 0, 8, 2)).toBe(crc32c(Buffer.from('ab\0\0\0\0cd'), 0, 8));
  });
});

describe('any bytes', () => {
  /** One of the cases with some bytes changed, some removed, and others appended. */
  const anything = fc
    .tuple(
      fc.constantFrom(...CASES.map(([, preamble]) => preamble)),
      fc.array(fc.tuple(fc.nat(1100), fc.nat(255)), { maxLength: 4 }),
      fc.nat(40),
      fc.uint8Array({ maxLength: 30 }),
    )
    .map(([preamble, changes, cut, behind]) => {
      const changed = Buffer.from(preamble.subarray(0, Math.max(0, preamble.length - (cut % 4))));
      for (const [at, value] of changes) if (at < changed.length) changed[at] = value;
      return join(changed, behind);
    });

  it('come to one outcome at the first byte that decides it', () => {
    fc.assert(
      fc.property(anything, (data) => {
        const whole = parseProxyPreamble(data, 0, data.length);
        let first: ProxyPreamble | null = null;
        for (let end = 0; end <= data.length && first === null; end++) {
          first = parseProxyPreamble(data, 0, end);
        }
        expect(first === null ? null : summary(first)).toBe(whole === null ? null : summary(whole));
        expect(first?.length).toBe(whole?.length);
      }),
      { numRuns: runs(400) },
    );
  });
});
