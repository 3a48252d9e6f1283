/** Rate limiter: one token bucket per client address. A bucket holds a minute's requests and refills evenly. */
import { isIPv6 } from 'node:net';

import type Koa from 'koa';
import { LRUCache } from 'lru-cache';

import { AppError } from '../../errors';
import type { RequestState } from '../route';

/** Largest number of client addresses to remember. The address that was seen longest ago is dropped first. */
const CLIENTS_MAX = 50_000;
const MINUTE_MS = 60_000;

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** `isFree` tells which paths have no limit. OPTIONS requests also have no limit, because they read nothing. */
export function limitRate(
  perMinute: number,
  isFree: (path: string) => boolean,
): Koa.Middleware<RequestState> {
  const buckets = new LRUCache<string, Bucket>({ max: CLIENTS_MAX });
  const perMs = perMinute / MINUTE_MS;
  return async (ctx, next) => {
    if (isFree(ctx.path) || ctx.method === 'OPTIONS') return next();
    const client = clientOf(ctx.ip);
    const nowMs = performance.now();
    const bucket = buckets.get(client) ?? { tokens: perMinute, filledAt: nowMs };
    bucket.tokens = Math.min(perMinute, bucket.tokens + (nowMs - bucket.filledAt) * perMs);
    bucket.filledAt = nowMs;
    buckets.set(client, bucket);
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    ctx.set('X-RateLimit-Limit', String(perMinute));
    ctx.set('X-RateLimit-Remaining', String(Math.floor(bucket.tokens)));
    ctx.set('X-RateLimit-Reset', String(Math.ceil((perMinute - bucket.tokens) / perMs / 1000)));
    if (allowed) return next();
    const seconds = Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1000));
    ctx.set('Retry-After', String(seconds));
    throw new AppError('rate_limited', `more than ${perMinute} calls per minute; retry in ${seconds} s`);
  };
}

/** The key of a client: its IPv4 address, or the /64 of its IPv6 address, which one customer usually owns. */
export function clientOf(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(ip)) return ip;
  const [left = '', right] = (ip.split('%')[0] ?? '').split('::');
  const head = left === '' ? [] : left.split(':');
  const tail = right === undefined || right === '' ? [] : right.split(':');
  const zeros = right === undefined ? 0 : 8 - head.length - tail.length;
  const groups = [...head, ...Array.from({ length: Math.max(0, zeros) }, () => '0'), ...tail];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
