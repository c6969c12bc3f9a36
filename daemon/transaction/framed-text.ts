// An answer that no program has had a part in, over HTTP/2: a status and perhaps a few words.

import { Tag } from '../../protocol/tables/tags.ts';
import { own } from '../flow/piece.ts';
import { HttpMessage } from '../http1/message.ts';
import type { StreamAnswer } from './client-session.ts';

/** A status and nothing else; returns the bytes of its head. */
export function answerStatus(stream: StreamAnswer, status: number): number {
  const head = new HttpMessage(Tag.RespMethod);
  head.status = status;
  return stream.head(head, true);
}

/** Sends it whole; returns the bytes of its head. @param text in ASCII, '' for no body */
export function answerFramed(stream: StreamAnswer, status: number, text = ''): number {
  const head = new HttpMessage(Tag.RespMethod);
  head.status = status;
  head.push('server', 'Server: proxyd');
  if (text !== '') head.push('content-type', 'Content-Type: text/plain');
  head.push('content-length', `Content-Length: ${text.length}`);
  const bytes = stream.head(head, text === '');
  if (text !== '') stream.end(own(Buffer.from(text, 'latin1')));
  return bytes;
}
