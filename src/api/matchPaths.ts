/** Compares paths with patterns in the router's syntax, such as `/pair/:address`. */

/** Returns a function that tells whether a path matches one of the patterns. Each parameter is one segment. */
export function matchPaths(patterns: readonly string[]): (path: string) => boolean {
  const fixed = new Set(patterns.filter((pattern) => !pattern.includes(':')));
  const others = patterns.filter((pattern) => pattern.includes(':')).map((pattern) => pattern.split('/'));
  return (path) => {
    if (fixed.has(path)) return true;
    const given = path.split('/');
    return others.some(
      (parts) =>
        parts.length === given.length &&
        parts.every((part, index) => (part.startsWith(':') ? given[index] !== '' : part === given[index])),
    );
  };
}
