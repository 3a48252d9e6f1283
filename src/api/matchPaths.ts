/** Compares paths with patterns in the router's syntax, such as `/pair/:address`. */

/** Returns a function that tells whether a path matches one of the patterns. Each parameter is one segment. */
export function matchPaths(patterns: readonly string[]): (path: string) => boolean {
  const fixed = new Set(patterns.filter((pattern) => !pattern.includes(':')));
  const withParameters = patterns
    .filter((pattern) => pattern.includes(':'))
    .map((pattern) => pattern.split('/'));
  return (path) => {
    if (fixed.has(path)) return true;
    const pathParts = path.split('/');
    return withParameters.some(
      (parts) =>
        parts.length === pathParts.length &&
        parts.every((part, index) =>
          part.startsWith(':') ? pathParts[index] !== '' : part === pathParts[index],
        ),
    );
  };
}
