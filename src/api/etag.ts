/** Strong ETags of bodies, and whether a client's If-None-Match names one. */
import { createHash } from 'node:crypto';

/** A strong ETag: a hash of the bytes. */
export function etagOf(body: Buffer | string): string {
  return `"${createHash('sha1').update(body).digest('base64url')}"`;
}

/**
 * Whether an If-None-Match header matches, by weak comparison (RFC 9110 §13.1.2). Cache-Control of the request is not
 * looked at: fetch() adds `no-cache` to every request that carries a condition of its own.
 */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag);
}
