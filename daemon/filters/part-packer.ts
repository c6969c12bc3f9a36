// Compresses the parts of a packed page in the calling thread. One compressor serves all pages with the same settings:
// after a full flush nothing refers back, and making one costs as much as compressing some kilobytes (20 µs for a part of
// 185 bytes, 6 without).

import { isShortPart, packPart } from '../esi/gzip-stitch.ts';
import { type PartDeflater, partDeflater } from '../runtime-handles.ts';

let settings = '';
/** Null where the runtime has none. */
let deflater: PartDeflater | null = null;

/** Deflate data that ends on a byte boundary and is not final. */
export function packInTurn(bytes: Uint8Array, level: number, memLevel: number): Buffer {
  const wanted = `${level} ${memLevel}`;
  if (wanted !== settings) {
    deflater?.close();
    settings = wanted;
    deflater = partDeflater(level, memLevel);
  }
  return deflater === null || isShortPart(bytes) ? packPart(bytes, level, memLevel) : deflater.deflate(bytes);
}
