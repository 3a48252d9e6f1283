/** Paths of Sourcify's API whose errors all have Sourcify's format. */

const SOURCIFY_PATH = /^\/v2\/(?:verify|contracts)(?:\/|$)/;
const VERIFY_PATH = /^\/v2\/verify\/(?:(?:metadata|similarity)\/)?[^/]+\/[^/]+\/?$/;

export function isSourcifyPath(path: string): boolean {
  return SOURCIFY_PATH.test(path);
}

/** Whether the path takes a verification request, which needs POST. */
export function takesVerifications(path: string): boolean {
  return VERIFY_PATH.test(path);
}
