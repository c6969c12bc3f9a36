// The reasons of BackendClose: words, and since 7.5 the names that SessClose has.

import type { CloseReason } from '../../protocol/tables/close-reasons.ts';
import type { Changes } from '../../protocol/tables/release-changes.ts';

/** The text of a reason in BackendClose; null unless the peer caused it. */
export function closeText(reason: CloseReason | null, { backendCloseNames }: Changes): string {
  if (backendCloseNames) return reason ?? 'null';
  switch (reason) {
    case null:
      return 'Not Closing';
    case 'REM_CLOSE':
      return 'Client Closed';
    case 'RX_BODY':
      return 'Failure receiving req.body';
    case 'RX_TIMEOUT':
      return 'Receive timeout';
    case 'RX_OVERFLOW':
      return 'Received buffer overflow';
    case 'TX_ERROR':
      return 'Error transaction';
    case 'OVERLOAD':
      return 'Out of some resource';
    case 'TX_PIPE':
      return 'Piped transaction';
    case 'RESP_CLOSE':
      return 'Backend/VCL requested close';
    case 'REQ_CLOSE':
      return 'Client requested close';
    case 'REQ_HTTP10':
      return 'Proto < HTTP/1.1';
    case 'RX_JUNK':
      return 'Received junk data';
    default:
      return 'Received bad req/resp';
  }
}
