/** Reads the location of the page from its URL. Pure. */

/** The location of the page: `/pair/0x…?timeframe=1h` has the path ['pair', '0x…']. */
export interface Place {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

interface UrlParts {
  readonly pathname: string;
  readonly search: string;
}

/**
 * The location in the fragment of an URL of an older release, such as `#/pair/0x…`; null without one. The result has
 * one leading slash, because two would name another host.
 */
export function pathOfOldHash(hash: string): string | null {
  return hash.startsWith('#/') ? `/${hash.slice(1).replace(/^[/\\\s]+/, '')}` : null;
}

export function placeOf({ pathname, search }: UrlParts): Place {
  return { path: pathname.slice(1).split('/').map(decodePart), query: new URLSearchParams(search) };
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
