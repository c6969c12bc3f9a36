// The Huffman code of HPACK (RFC 7541 section 5.2, appendix B). The code is canonical: the lengths alone determine it.
// It is read four bits a step by a machine whose states are the inner nodes of the code's tree: no code has fewer than
// five bits, so a step ends one symbol at the most. The cost is two steps an octet, whatever the octets are.
/** Bits of the code of each octet, and of the end of string. */
// biome-ignore format: sixteen a line
const LENGTHS = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];
const EOS = 256;
const LONGEST = 30;
const CODES = codes();
function codes() {
    const out = new Uint32Array(LENGTHS.length);
    let code = 0;
    for (let bits = 1; bits <= LONGEST; bits++) {
        for (const [symbol, length] of LENGTHS.entries())
            if (length === bits)
                out[symbol] = code++;
        code *= 2;
    }
    return out;
}
/** A step of the machine: bits 0 to 7 the next state, 8 to 15 the octet, and these. */
const EMITS = 1 << 16;
const FAILS = 1 << 17;
/** Steps by state and four bits, and the states in which a string may end. */
const { steps: STEPS, mayEnd: MAY_END } = machine();
function machine() {
    // The tree: two children of each inner node. A leaf is -1 - symbol, a child that is not there yet 0, as the root is
    // the child of none.
    const children = [[0, 0]];
    for (const [symbol, length] of LENGTHS.entries()) {
        const code = CODES[symbol];
        let node = 0;
        for (let bit = length - 1; bit >= 0; bit--) {
            const side = ((code >>> bit) & 1);
            const at = children[node];
            if (bit === 0)
                at[side] = -1 - symbol;
            else if (at[side] === 0)
                at[side] = children.push([0, 0]) - 1;
            node = at[side];
        }
    }
    const steps = new Uint32Array(children.length * 16);
    for (let state = 0; state < children.length; state++) {
        for (let bits = 0; bits < 16; bits++)
            steps[state * 16 + bits] = stepOf(children, state, bits);
    }
    // Padding is at most seven bits of ones (RFC 7541 section 5.2), the beginning of the end of string.
    const mayEnd = new Uint8Array(children.length);
    for (let ones = 0, node = 0; ones < 8; ones++) {
        mayEnd[node] = 1;
        node = children[node][1];
    }
    return { steps, mayEnd };
}
function stepOf(children, state, bits) {
    let node = state;
    let out = 0;
    for (let bit = 3; bit >= 0; bit--) {
        const next = children[node][((bits >>> bit) & 1)];
        if (next >= 0) {
            node = next;
            continue;
        }
        const symbol = -1 - next;
        if (symbol === EOS)
            return FAILS;
        out = EMITS | (symbol << 8);
        node = 0;
    }
    return out | node;
}
/** Most octets that `length` coded ones can stand for. */
export function huffmanMost(length) {
    return Math.floor((length * 8) / 5);
}
/**
 * Decodes buf[start, end) into `out` from `at` on. Octets for which `out` has no room are counted and dropped.
 * @returns the number of octets that it stands for, or -1 when it is no string of this code
 */
export function huffmanDecode(buf, start, end, out, at) {
    let state = 0;
    let p = at;
    for (let i = start; i < end; i++) {
        const octet = buf[i];
        const first = STEPS[(state << 4) | (octet >> 4)];
        if ((first & EMITS) !== 0)
            out[p++] = first >> 8;
        const second = STEPS[((first & 255) << 4) | (octet & 15)];
        if ((second & EMITS) !== 0)
            out[p++] = second >> 8;
        if (((first | second) & FAILS) !== 0)
            return -1;
        state = second & 255;
    }
    return MAY_END[state] === 1 ? p - at : -1;
}
/** Octets that the text takes when it is coded. */
export function huffmanLength(text) {
    let bits = 0;
    for (let i = 0; i < text.length; i++)
        bits += LENGTHS[text.charCodeAt(i) & 255];
    return Math.ceil(bits / 8);
}
/** Writes the text, coded, at `at`; returns the offset past it. The caller has made the room. */
export function huffmanEncode(text, out, at) {
    let p = at;
    // Bits not yet written, fewer than eight, are the low ones of `held`.
    let held = 0;
    let count = 0;
    for (let i = 0; i < text.length; i++) {
        const symbol = text.charCodeAt(i) & 255;
        let bits = LENGTHS[symbol];
        const code = CODES[symbol];
        while (bits > 0) {
            const part = Math.min(bits, 8 - count);
            bits -= part;
            held = (held << part) | ((code >>> bits) & ((1 << part) - 1));
            count += part;
            if (count < 8)
                continue;
            out[p++] = held;
            held = 0;
            count = 0;
        }
    }
    if (count > 0)
        out[p++] = (held << (8 - count)) | (255 >> count);
    return p;
}
