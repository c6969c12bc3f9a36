// The worker's and the manager's own counters: an object with a numeric property for each row of
// protocol/tables/counters.ts, so that the hot path counts with `c.cache_hit++`. Numbers are doubles, exact up to 2^53.
// Nothing here writes or publishes; counters-file.ts does.

import {
  type CounterRow,
  EDGE_COUNTERS,
  type EdgeCounterName,
  FLEET_COUNTERS,
  type FleetCounterName,
  MAIN_COUNTERS,
  type MainCounterName,
  MGT_COUNTERS,
  type MgtCounterName,
  SMA_COUNTERS,
  SMD_COUNTERS,
  type SmaCounterName,
  type SmdCounterName,
  THR_COUNTERS,
  type ThrCounterName,
  TLS_CERT_COUNTERS,
  TLS_COUNTERS,
  type TlsCertCounterName,
  type TlsCounterName,
  VBE_COUNTERS,
  type VbeCounterName,
  VCP_COUNTERS,
  type VcpCounterName,
  WAITER_COUNTERS,
  type WaiterCounterName,
  WRK_COUNTERS,
  type WrkCounterName,
} from '../../protocol/tables/counters.ts';

/** MAIN.*: one instance per worker. */
export type MainCounters = Record<MainCounterName, number>;
/** SMA.<name>.*: one instance per storage. */
export type SmaCounters = Record<SmaCounterName, number>;
/** SMD.<name>.*: of a disk tier. */
export type SmdCounters = Record<SmdCounterName, number>;
/** TLS.*: one instance per thread. */
export type TlsCounters = Record<TlsCounterName, number>;
/** EDGE.*: one instance per worker. */
export type EdgeCounters = Record<EdgeCounterName, number>;
/** FLEET.*: kept by the manager. */
export type FleetCounters = Record<FleetCounterName, number>;
/** TLS.*, of certificates: kept by the manager. */
export type TlsCertCounters = Record<TlsCertCounterName, number>;
/** VBE.<program>.<backend>.*: one instance per backend of a loaded program. A bitmap is a bigint. */
export type VbeCounters = Record<Exclude<VbeCounterName, 'happy'>, number> & { happy: bigint };
/** VCP.*: one instance per pool. */
export type VcpCounters = Record<VcpCounterName, number>;
/** WAITER.pool0.*: one instance per thread. */
export type WaiterCounters = Record<WaiterCounterName, number>;
/** THR.<number>.*: one instance per thread. */
export type ThrCounters = Record<ThrCounterName, number>;
/** WRK.*: filled just before each publication. */
export type WrkCounters = Record<WrkCounterName, number>;
/** MGT.*: kept by the manager. */
export type MgtCounters = Record<MgtCounterName, number>;

export const newMainCounters = (): MainCounters => zeros(MAIN_COUNTERS);
export const newSmaCounters = (): SmaCounters => zeros(SMA_COUNTERS);
export const newSmdCounters = (): SmdCounters => zeros(SMD_COUNTERS);
export const newTlsCounters = (): TlsCounters => zeros(TLS_COUNTERS);
export const newEdgeCounters = (): EdgeCounters => zeros(EDGE_COUNTERS);
export const newFleetCounters = (): FleetCounters => zeros(FLEET_COUNTERS);
export const newTlsCertCounters = (): TlsCertCounters => zeros(TLS_CERT_COUNTERS);
export const newVbeCounters = (): VbeCounters => ({ ...zeros(VBE_COUNTERS), happy: 0n });
export const newVcpCounters = (): VcpCounters => zeros(VCP_COUNTERS);
export const newWaiterCounters = (): WaiterCounters => zeros(WAITER_COUNTERS);
export const newThrCounters = (): ThrCounters => zeros(THR_COUNTERS);
export const newWrkCounters = (): WrkCounters => zeros(WRK_COUNTERS);
export const newMgtCounters = (): MgtCounters => zeros(MGT_COUNTERS);

/** Built from entries, because V8 keeps such an object fast; one that is filled name by name becomes a dictionary, in
 * which counting costs twenty times as much. */
function zeros<N extends string>(rows: readonly (CounterRow & { name: N })[]): Record<N, number> {
  return Object.fromEntries(rows.map((row) => [row.name, 0])) as Record<N, number>;
}
