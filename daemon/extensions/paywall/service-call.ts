// One question to the authorisation service: a POST of JSON over HTTP. The service is not trusted to answer, to
// finish, to be brief or to be valid; any problem is a ServiceFailure with its reason, including a redirect, since
// the session is sent only to the program's URL.

import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { ExtensionError } from '../../contract/failure.ts';

export type Access = 'allow' | 'deny' | 'metered';

export interface ServiceAnswer {
  access: Access;
  /** '' if the service does not name it. */
  user: string;
  /** Seconds for which the reader's cookie is trusted without the service; 0 for never. */
  seconds: number;
}

export interface Question {
  session: string;
  protection: string;
}

export class ServiceFailure extends Error {}

export interface Service {
  ask(question: Question): Promise<ServiceAnswer>;
  close(): void;
}

/** Largest head and body of an answer in bytes (chosen: an answer has some hundred). */
const LARGEST = 16 * 1024;
/** Most connections to the service (chosen). */
const CONNECTIONS = 32;
const USER = /^[\x21-\x7e]{0,128}$/;

/**
 * The service at a URL.
 * @param seconds timeout of a whole exchange, connecting included
 * @throws ExtensionError for an unusable URL
 */
export function serviceAt(text: string, seconds: number): Service {
  const url = serviceUrl(text);
  const secure = url.protocol === 'https:';
  const settings = { keepAlive: true, maxSockets: CONNECTIONS };
  const agent = secure ? new HttpsAgent(settings) : new HttpAgent(settings);
  const start = secure ? httpsRequest : httpRequest;
  return {
    ask: (question) => {
      const body = Buffer.from(JSON.stringify(question));
      const headers = {
        Accept: 'application/json',
        'Content-Type': 'application/json',
        'Content-Length': body.length,
      };
      const request = start(url, { method: 'POST', agent, headers, maxHeaderSize: LARGEST });
      const answer = answerOf(request, seconds);
      request.end(body);
      return answer;
    },
    close: () => agent.destroy(),
  };
}

function serviceUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ExtensionError('service_url has to be a URL of http or https');
  // Credentials would be in the program's text, which many may read.
  if (url.username !== '' || url.password !== '')
    throw new ExtensionError('service_url must not contain a user or a password');
  return url;
}

function answerOf(request: ClientRequest, seconds: number): Promise<ServiceAnswer> {
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => {
      clearTimeout(timer);
      reject(new ServiceFailure(why));
      request.destroy();
    };
    const timer = setTimeout(() => fail(`no answer within ${seconds} s`), seconds * 1000);
    request.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? 'the connection failed'));
    request.on('response', (response) => {
      const wrong = wrongHead(response);
      if (wrong !== null) return fail(wrong);
      const pieces: Buffer[] = [];
      let size = 0;
      response.on('data', (piece: Buffer) => {
        size += piece.length;
        if (size > LARGEST) fail(`an answer of more than ${LARGEST} bytes`);
        else pieces.push(piece);
      });
      response.on('error', () => fail('half an answer'));
      response.on('end', () => {
        const answer = answerIn(Buffer.concat(pieces).toString());
        if (answer === null) return fail('a malformed answer');
        clearTimeout(timer);
        resolve(answer);
      });
    });
  });
}

function wrongHead({ statusCode = 0, headers }: IncomingMessage): string | null {
  if (statusCode >= 300 && statusCode < 400) return `a redirect (status ${statusCode})`;
  if (statusCode !== 200) return `status ${statusCode}`;
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) return 'an answer that is no JSON';
  if (headers['content-encoding'] !== undefined) return 'an encoded answer';
  return null;
}

function answerIn(text: string): ServiceAnswer | null {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof read !== 'object' || read === null) return null;
  const { access, user = '', seconds = 0 } = read as Record<string, unknown>;
  if (access !== 'allow' && access !== 'deny' && access !== 'metered') return null;
  if (typeof user !== 'string' || !USER.test(user)) return null;
  if (typeof seconds !== 'number' || !(seconds >= 0)) return null;
  return { access, user, seconds };
}
