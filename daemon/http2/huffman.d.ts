import type { LentBytes } from '../http1/lent-bytes.ts';
/** Most octets that `length` coded ones can stand for. */
export declare function huffmanMost(length: number): number;
/**
 * Decodes buf[start, end) into `out` from `at` on. Octets for which `out` has no room are counted and dropped.
 * @returns the number of octets that it stands for, or -1 when it is no string of this code
 */
export declare function huffmanDecode(buf: LentBytes, start: number, end: number, out: Uint8Array, at: number): number;
/** Octets that the text takes when it is coded. */
export declare function huffmanLength(text: string): number;
/** Writes the text, coded, at `at`; returns the offset past it. The caller has made the room. */
export declare function huffmanEncode(text: string, out: Uint8Array, at: number): number;
