/** Computes ETags of bodies, and compares them with If-None-Match. */
import { createHash } from 'node:crypto';

/** A strong ETag: a hash of the bytes. */
export function etagOf(body: Buffer | string): string {
  return `"${createHash('sha1').update(body).digest('base64url')}"`;
}

/** The weak form of an ETag, for a body whose bytes depend on Accept-Encoding. */
export function weaken(etag: string): string {
  return etag.startsWith('W/') ? etag : `W/${etag}`;
}

/**
 * The ETag of an If-None-Match header that equals `etag` by weak comparison (RFC 9110 §13.1.2), in the form in which
 * the client knows it. Null if there is none. The request's Cache-Control is ignored: fetch() adds `no-cache` to every
 * conditional request.
 */
export function findEtag(ifNoneMatch: string, etag: string): string | null {
  if (ifNoneMatch.trim() === '*') return etag;
  const candidates = ifNoneMatch.split(',').map((candidate) => candidate.trim());
  return candidates.find((candidate) => candidate.replace(/^W\//, '') === etag) ?? null;
}
