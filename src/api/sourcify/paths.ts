/** Paths of Sourcify's API whose errors all have Sourcify's format. */

const PATHS = /^\/v2\/(?:verify|contracts)(?:\/|$)/;
const POSTED = /^\/v2\/verify\/(?:(?:metadata|similarity)\/)?[^/]+\/[^/]+\/?$/;

export function isSourcifyPath(path: string): boolean {
  return PATHS.test(path);
}

/** Whether the path takes a verification request, which needs POST. */
export function takesVerifications(path: string): boolean {
  return POSTED.test(path);
}
