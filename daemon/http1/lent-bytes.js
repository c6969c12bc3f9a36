// Bytes of a read buffer, lent for one turn. Sockets of a worker read into one buffer, which the next read overwrites:
// a callback that receives them uses them before returning, or copies them with keep().
//
// Every Buffer and Uint8Array may be lent, but LentBytes is not a Buffer: tsc refuses it wherever bytes must stay
// valid. It has neither `buffer` nor any method that makes another object over the same memory, except a smaller loan.
// A field that holds a loan across calls must have this type; test/structure/loans.test.ts lists them all.
//
// Interfaces whose functions take a loan declare them as properties: tsc compares the parameters of methods
// bivariantly, and would accept an implementation that takes a Buffer.
/** A copy of buf[start, end) that stays valid. */
export function keep(buf, start, end) {
    return Buffer.from(buf.subarray(start, end));
}
/** Copies buf[start, end) to `target` at `at`. */
export function copyLent(buf, start, end, target, at) {
    buf.copy(target, at, start, end);
}
