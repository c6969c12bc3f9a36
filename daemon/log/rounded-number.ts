// Whole numbers in the format of C's %.0f: halves go to the even neighbour. Used in records that scripts compare with
// Varnish's.

export function roundedNumber(value: number): string {
  const rounded = Math.round(value);
  const even = Math.abs(value % 1) === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded;
  return String(even === 0 ? 0 : even);
}
