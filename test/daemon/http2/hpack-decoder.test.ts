import { describe, expect, it } from 'vitest';
import type { HeaderField } from '../../../daemon/http2/header-field.ts';
import { HpackDecoder } from '../../../daemon/http2/hpack-decoder.ts';
import { EXAMPLES } from './rfc7541-examples.ts';

const LARGE = 65_536;

/** A decoder and the fields of each block, as text. */
function reader(tableSize: number, maxList = LARGE) {
  const decoder = new HpackDecoder(tableSize);
  const read = (hex: string): string[] | string => {
    const fields: string[] = [];
    const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
    const wrong = decoder.decode(bytes, 0, bytes.length, maxList, (field: HeaderField) => {
      fields.push(`${field.name}: ${field.value}`);
    });
    return wrong ?? fields;
  };
  return { decoder, read };
}

describe('blocks', () => {
  for (const { section, table, blocks } of EXAMPLES) {
    it(`reads the example ${section} of RFC 7541`, () => {
      const { decoder, read } = reader(table);
      for (const { hex, fields, held } of blocks) {
        expect(read(hex)).toEqual(fields);
        expect(decoder.bytesHeld).toBe(held);
      }
    });
  }
});
