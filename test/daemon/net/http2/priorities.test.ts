// In which order answers leave that all wait for the same window: what their clients and the answers themselves say.
// RFC 9218 sections 4, 5, 7, 8 and 10.
import { expect, it } from 'vitest';
import { FRAME } from '../../../harness/http2-frames.ts';
import { FakeHttp2 } from '../fake-http2.ts';

const LONG = '20000*aaa';
/** Windows for all answers but that of the connection, which the first answer uses up. */
const BEGIN = 'SETTINGS(0) [4=2000000] ; GET(1 /200000*bbbb) {priority=u=0}';

/** The streams in the order in which their answers end, once the connection has room for all of them. */
function order(frames: string, params: Readonly<Record<string, number>> = {}): number[] {
  const one = new FakeHttp2(params).frames(`${BEGIN} ; ${frames}`);
  const before = one.got.length;
  one.frames('WINDOW_UPDATE(0) #5000000');
  const last = new Map<number, number>();
  one.got.slice(before).forEach(({ type, stream }, i) => {
    if (type === FRAME.DATA) last.set(stream, i);
  });
  expect(one.reported()).not.toContain('GOAWAY');
  return [...last.keys()]
    .filter((stream) => stream !== 1)
    .toSorted((a, b) => (last.get(a) ?? 0) - (last.get(b) ?? 0));
}

it('is that of their urgency, as the client asks', () => {
  expect(order(`GET(3 /${LONG}) {priority=u=5} ; GET(5 /${LONG}) {priority=u=4}`)).toEqual([5, 3]);
  expect(order(`GET(3 /${LONG}) ; GET(5 /${LONG}) {priority=u=2}`)).toEqual([5, 3]);
});

it('is that of the latest PRIORITY_UPDATE', () => {
  const both = `GET(3 /${LONG}) {priority=u=1} ; GET(5 /${LONG}) {priority=u=2}`;
  expect(order(both)).toEqual([3, 5]);
  expect(order(`${both} ; PRIORITY_UPDATE(0) #3 "u=6"`)).toEqual([5, 3]);
  expect(order(`${both} ; PRIORITY_UPDATE(0) #3 "u=6" ; PRIORITY_UPDATE(0) #3 "u=0"`)).toEqual([3, 5]);
});

it('is that of a PRIORITY_UPDATE that came before its request, over the header of the request', () => {
  const both = `GET(3 /${LONG}) {priority=u=1} ; GET(5 /${LONG}) {priority=u=2}`;
  expect(order(`PRIORITY_UPDATE(0) #3 "u=6" ; ${both}`)).toEqual([5, 3]);
  expect(order(`PRIORITY_UPDATE(0) #5 "u=6" ; PRIORITY_UPDATE(0) #5 "u=0" ; ${both}`)).toEqual([5, 3]);
});

it('is what the answer says over what its client asks, member by member', () => {
  expect(order(`GET(3 /${LONG}) {priority=u=1} ; GET(5 /${LONG}?u=0) {priority=u=6}`)).toEqual([5, 3]);
  expect(order(`GET(3 /${LONG}?u=7) ; GET(5 /${LONG}) {priority=u=6}`)).toEqual([5, 3]);
  // Its urgency is still the client's.
  expect(order(`GET(3 /${LONG}) {priority=u=2} ; GET(5 /${LONG}?i) {priority=u=1}`)).toEqual([5, 3]);
  expect(order(`GET(3 /${LONG}) {priority=u=2} ; GET(5 /${LONG}?u=9) {priority=u=1}`)).toEqual([5, 3]);
  expect(order(`GET(3 /${LONG}) {priority=u=2} ; GET(5 /${LONG}?!) {priority=u=1}`)).toEqual([5, 3]);
  // Also after the client has changed its mind.
  const both = `GET(3 /${LONG}) {priority=u=1} ; GET(5 /${LONG}?u=0) {priority=u=6}`;
  expect(order(`${both} ; PRIORITY_UPDATE(0) #5 "u=7"`)).toEqual([5, 3]);
});

it('is one after the other, unless the client or the answer wants parts', () => {
  // The second is shorter, and ends first where both share.
  const two = (first: string, second: string): string =>
    `GET(3 /40000*aaa${first}) {priority=u=3} ; GET(5 /${LONG}${second}) {priority=u=3}`;
  expect(order(two('', ''))).toEqual([3, 5]);
  expect(order(two('?i', '?i'))).toEqual([5, 3]);
  const shared = `GET(3 /40000*aaa?i=?0) {priority=i} ; GET(5 /${LONG}) {priority=i}`;
  expect(order(shared)).toEqual([3, 5]);
  expect(order(`GET(3 /40000*aaa) ; GET(5 /${LONG})`)).toEqual([5, 3]);
});

it('does not keep the priority of a stream that was passed over, nor that of one refused', () => {
  const one = new FakeHttp2({ h2_max_concurrent_streams: 2 });
  const again = (from: number): string =>
    `PRIORITY_UPDATE(0) #${from} "u=1" ; PRIORITY_UPDATE(0) #${from + 2} "u=1" ; GET(${from + 4})`;
  for (let i = 0; i < 20; i++) one.frames(again(6 * i + 1));
  expect(one.reported()).not.toContain('GOAWAY');
});

it('is not asked for by more streams than may be open', () => {
  const limit = { h2_max_concurrent_streams: 3 };
  const early = 'PRIORITY_UPDATE(0) #3 "u=1" ; PRIORITY_UPDATE(0) #5 "u=1"';
  const one = new FakeHttp2(limit).frames(`GET(1 /wait) ; ${early} ; ${early}`);
  expect(one.reported()).toBe('nothing');
  expect(one.frames('PRIORITY_UPDATE(0) #7 "u=1"').reported()).toBe('GOAWAY PROTOCOL_ERROR');
  // A stream that was reset is not open for its client.
  const other = new FakeHttp2(limit).frames(
    `GET(1 /wait) ; RST_STREAM(1) #8 ; ${early} ; PRIORITY_UPDATE(0) #7 "u=1"`,
  );
  expect(other.reported()).toBe('nothing');
});
