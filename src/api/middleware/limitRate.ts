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

/** `isUnlimited` tells which paths have no limit. OPTIONS requests also have no limit, because they read nothing. */
export function limitRate(
  perMinute: number,
  isUnlimited: (path: string) => boolean,
): Koa.Middleware<RequestState> {
  const bucketByClient = new LRUCache<string, Bucket>({ max: CLIENTS_MAX });
  const tokensPerMs = perMinute / MINUTE_MS;
  return async (ctx, next) => {
    if (isUnlimited(ctx.path) || ctx.method === 'OPTIONS') return next();
    const client = clientOf(ctx.ip);
    const nowMs = performance.now();
    const bucket = bucketByClient.get(client) ?? { tokens: perMinute, filledAt: nowMs };
    bucket.tokens = Math.min(perMinute, bucket.tokens + (nowMs - bucket.filledAt) * tokensPerMs);
    bucket.filledAt = nowMs;
    bucketByClient.set(client, bucket);
    const isAllowed = bucket.tokens >= 1;
    if (isAllowed) bucket.tokens -= 1;
    ctx.set('X-RateLimit-Limit', String(perMinute));
    ctx.set('X-RateLimit-Remaining', String(Math.floor(bucket.tokens)));
    ctx.set('X-RateLimit-Reset', String(Math.ceil((perMinute - bucket.tokens) / tokensPerMs / 1000)));
    if (isAllowed) return next();
    const retrySeconds = Math.max(1, Math.ceil((1 - bucket.tokens) / tokensPerMs / 1000));
    ctx.set('Retry-After', String(retrySeconds));
    throw new AppError('rate_limited', `more than ${perMinute} calls per minute; retry in ${retrySeconds} s`);
  };
}

/** The key of a client: its IPv4 address, or the /64 of its IPv6 address, which one customer usually owns. */
export function clientOf(ip: string): string {
  const mappedIpv4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mappedIpv4 !== undefined) return mappedIpv4;
  if (!isIPv6(ip)) return ip;
  const [leftHalf = '', rightHalf] = (ip.split('%')[0] ?? '').split('::');
  const leftGroups = leftHalf === '' ? [] : leftHalf.split(':');
  const rightGroups = rightHalf === undefined || rightHalf === '' ? [] : rightHalf.split(':');
  const zeroGroups = rightHalf === undefined ? 0 : 8 - leftGroups.length - rightGroups.length;
  const groups = [
    ...leftGroups,
    ...Array.from({ length: Math.max(0, zeroGroups) }, () => '0'),
    ...rightGroups,
  ];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
