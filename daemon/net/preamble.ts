// What a connection on a PROXY listener goes through before its first request: the preamble is read, logged and
// applied to the session. It never touches the socket; the session reads, waits and closes.
//
// Caution: Varnish keeps the attributes in the session's workspace and refuses a preamble that does not fit there,
// so workspace_session bounds them here too.

import type { CloseReason } from '../../protocol/tables/close-reasons.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { TxLog } from '../log/tx-log.ts';
import type { MainCounters } from '../stats/counter-fields.ts';
import { noteRefusal } from '../transaction/refuse.ts';
import { type ProxyAddress, type ProxyPreamble, parseProxyPreamble } from './proxy-protocol.ts';

/** What a preamble may change of a session. */
export interface PreambleTarget {
  readonly log: TxLog;
  setAddresses(client: ProxyAddress, server: ProxyAddress): void;
  proxyAttributes: ReadonlyMap<number, Uint8Array> | null;
}

/** Bytes of the session's workspace that its addresses take, and those that come with IPv6. */
const WORKSPACE_ADDRESSES = 384;
const WORKSPACE_IPV6 = 8;
/** Bytes for the place where the attributes are remembered. */
const WORKSPACE_PLACE = 8;

/**
 * Reads the preamble at the start of `bytes` into the session. Returns its length, null when more bytes are needed, or
 * why the connection must be closed.
 *
 * @param workspace the parameter workspace_session, in bytes
 */
export function receivePreamble(
  session: PreambleTarget,
  bytes: Uint8Array,
  workspace: number,
  stats: MainCounters,
): number | null | CloseReason {
  const found = parseProxyPreamble(bytes, 0, bytes.length);
  if (found === null) return null;
  const { log } = session;
  if (found.told !== null) log.put(Tag.Proxy, found.told);
  if (found.garbage !== null) log.put(Tag.ProxyGarbage, found.garbage);
  if (found.state === 'refused') {
    noteRefusal(log, stats, 'connection', 'preamble', '');
    return found.reason;
  }
  const overflow = workspaceError(found, workspace);
  if (overflow !== null) {
    log.put(Tag.Error, overflow);
    return 'RX_JUNK';
  }
  if (found.client !== null && found.server !== null) session.setAddresses(found.client, found.server);
  if (found.attributes !== null && found.attributes.size > 0) session.proxyAttributes = found.attributes;
  return found.length;
}

function workspaceError(found: ProxyPreamble, workspace: number): string | null {
  if (found.attributeLength === 0) return null;
  const ipv6 = found.client?.text.includes(':') === true ? WORKSPACE_IPV6 : 0;
  const free = workspace - WORKSPACE_ADDRESSES - ipv6;
  const wanted = Math.ceil(found.attributeLength / 8) * 8;
  if (wanted > free + WORKSPACE_PLACE) return 'insufficient workspace';
  return wanted > free ? 'insufficient workspace (proto_priv)' : null;
}
