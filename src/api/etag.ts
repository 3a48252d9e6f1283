/** Computes strong ETags of bodies, and the comparison with If-None-Match. */
import { createHash } from 'node:crypto';

/** A strong ETag: a hash of the bytes. */
export function etagOf(body: Buffer | string): string {
  return `"${createHash('sha1').update(body).digest('base64url')}"`;
}

/**
 * Compares an ETag with an If-None-Match header by weak comparison (RFC 9110 §13.1.2). The request's
 * Cache-Control is ignored: fetch() adds `no-cache` to every conditional request.
 */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag);
}
