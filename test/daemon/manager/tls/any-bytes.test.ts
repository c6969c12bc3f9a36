// Files of certificates may hold anything: each reader ends, with a value.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { derValues } from '../../../../daemon/manager/tls/der.ts';
import { readOcsp } from '../../../../daemon/manager/tls/ocsp-response.ts';
import { foundInstead, isEncrypted, pemBlocks } from '../../../../daemon/manager/tls/pem-blocks.ts';

const der = fc.array(fc.constantFrom(0x30, 0x02, 0x0a, 0x04, 0xa0, 0x80, 0x81, 0x84, 0xff, 0, 1, 3, 5, 9), {
  maxLength: 40,
});
const bytes = fc.oneof(fc.uint8Array({ maxLength: 60 }), der).map((list) => Buffer.from(list));
const pem = fc
  .array(
    fc.constantFrom(
      '-----BEGIN ',
      '-----END ',
      'CERTIFICATE',
      'PRIVATE KEY',
      '-----',
      '\n',
      '\r\n',
      'MIIB',
      'Proc-Type: 4,ENCRYPTED',
    ),
    { maxLength: 20 },
  )
  .map((parts) => parts.join(''));

it('DER and OCSP', () => {
  fc.assert(
    fc.property(bytes, (some) => {
      const values = derValues(some);
      if (values !== null) for (const { content } of values) expect(content.length).toBeLessThan(some.length);
      expect(['string', 'object']).toContain(typeof readOcsp(some, '01', 0));
    }),
  );
});

it('PEM', () => {
  fc.assert(
    fc.property(pem, (text) => {
      const blocks = pemBlocks(text);
      for (const block of blocks) {
        expect(text.replaceAll('\r\n', '\n')).toContain(block.text.trimEnd());
        expect(typeof isEncrypted(block)).toBe('boolean');
      }
      expect(foundInstead(Buffer.from(text), blocks, 'f')).not.toBe('');
    }),
  );
});
