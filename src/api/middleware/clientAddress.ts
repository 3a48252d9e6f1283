/**
 * Finds the address of the client. Behind proxies that the operator trusts, it is the rightmost address of
 * X-Forwarded-For that is no trusted proxy. Everyone else can write any address into this header, so it does not count.
 */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

import type Koa from 'koa';

import { bareAddress, matchNetworks } from '../../domain/networks';
import type { RequestState } from '../route';

/** Replaces `ctx.ip`, so that all limits count the real client. */
export function findClient(trusted: readonly string[]): Koa.Middleware<RequestState> {
  const isTrusted = matchNetworks(trusted);
  return (ctx, next) => {
    ctx.request.ip = addressOf(ctx.req, isTrusted);
    return next();
  };
}

function addressOf(request: IncomingMessage, isTrusted: (address: string) => boolean): string {
  let client = request.socket.remoteAddress ?? '';
  const header = request.headers['x-forwarded-for'];
  const hops = (typeof header === 'string' ? header : '').split(',').reverse();
  for (const hop of hops) {
    const address = bareAddress(hop.trim());
    if (!isTrusted(client) || isIP(address) === 0) return client;
    client = address;
  }
  return client;
}
